"""What a request is about, before its sources are asked: code, a review, and of which changes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.base import MufakatError
from mufakat.core.pack import conditions
from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.facts import Unavailable
from mufakat.ports.knowledge import Changed, Changes

SOURCE = "changes"


@dataclass(frozen=True, slots=True)
class Seen:
    """The conditions that a request fulfils, and the changes that it is about."""

    conditions: Conditions
    changed: Changed | None = None
    gaps: tuple[Unavailable, ...] = ()


class Reviewing:
    """Looks at the changes of a project where a request is a review; others cost nothing."""

    def __init__(self, changes: Changes | None = None, *, seconds: float) -> None:
        self._changes = changes
        self._seconds = seconds

    async def look(self, root: Path, prompt: str, *, role: str = "") -> Seen:
        """Judge a request; what git cannot say in its time is a gap, never a failure."""
        try:
            changed = await asyncio.wait_for(self._changed(root, prompt, role), self._seconds)
        except TimeoutError:
            why = f"timed out after {round(self._seconds * 1000)} ms"
            return Seen(_judged(prompt, role, None), gaps=(Unavailable(SOURCE, why),))
        except MufakatError as problem:
            return Seen(
                _judged(prompt, role, None), gaps=(Unavailable(SOURCE, str(problem)[:200]),)
            )
        return Seen(_judged(prompt, role, changed), changed)

    async def _changed(self, root: Path, prompt: str, role: str) -> Changed | None:
        changes = self._changes
        if changes is None:
            return None
        if not conditions.review(prompt, role=role):
            # One short look at the name decides whether the longer one is worth it.
            if not conditions.may_name_branch(prompt):
                return None
            if not conditions.names_branch(prompt, await changes.branch(root)):
                return None
        return await changes.look(root)


def _judged(prompt: str, role: str, changed: Changed | None) -> Conditions:
    code = conditions.code_question(prompt)
    if changed is None:
        return Conditions(code, conditions.review(prompt, role=role))
    review = conditions.review(prompt, role=role, branch=changed.branch, touched=changed.paths)
    told = conditions.changes(changed.base, len(changed.paths), complete=changed.complete)
    return Conditions(code, review, told if review else "")
