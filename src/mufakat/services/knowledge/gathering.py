"""Gathering what a pack may tell beside the talk: every source in its time, or with a reason."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mufakat.core.base import ConversationId, MufakatError, ProjectId
from mufakat.core.knowledge.found import Found
from mufakat.core.pack.facts import Unavailable
from mufakat.ports.knowledge import Changed
from mufakat.ports.scrub import Scrub

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked up, and from where."""

    root: Path
    """Folder of the project."""
    text: str
    """The request of a turn, or the query of a pull."""
    project: ProjectId | None = None
    """None while the folder has no record yet."""
    conversation: ConversationId | None = None
    whole: bool = False
    """All of one thing that the text names is wanted, not the best of many."""
    changed: Changed | None = None
    """What is being worked on, where a review asks for it."""
    person: bool = False
    """A person asks, who may read every branch."""


@dataclass(frozen=True, slots=True)
class Partly:
    """What a source has found without one of its means, and why it had to do without."""

    found: Sequence[Found]
    why: str


Source = Callable[[Subject], Awaitable[Sequence[Found]]]
"""Answers best first; an empty answer says that there is nothing."""
Pushed = Callable[[Subject], Awaitable[Sequence[Found] | Partly]]
"""A source that may say that its answer is not all that it could be."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was gathered, by the section that tells it, and what could not be had."""

    found: Mapping[str, Sequence[Found]] = field(default_factory=dict)
    gaps: tuple[Unavailable, ...] = ()

    def of(self, kind: str) -> Sequence[Found]:
        """What a section has to tell."""
        return self.found.get(kind, ())


class Gathering:
    """Asks the sources of sections; keys are section kinds."""

    def __init__(self, sources: Mapping[str, Pushed], scrub: Scrub, *, seconds: float) -> None:
        self._sources = sources
        self._scrub = scrub
        self._seconds = seconds

    async def gather(self, subject: Subject, kinds: Collection[str]) -> Known:
        """Ask all sources of these sections at once, each within the deadline."""
        asked = sorted(kind for kind in kinds if kind in self._sources)
        answers = await asyncio.gather(*(self._ask(kind, subject) for kind in asked))
        found: dict[str, Sequence[Found]] = {}
        gaps = []
        for kind, answer in zip(asked, answers, strict=True):
            match answer:
                case Unavailable():
                    gaps.append(answer)
                case Partly():
                    found[kind] = answer.found
                    gaps.append(Unavailable(kind, answer.why))
                case _:
                    found[kind] = answer
        return Known(found, tuple(gaps))

    async def _ask(self, kind: str, subject: Subject) -> Sequence[Found] | Partly | Unavailable:
        try:
            found = await asyncio.wait_for(self._sources[kind](subject), self._seconds)
            if isinstance(found, Partly):
                return Partly(cleaned(found.found, self._scrub), found.why)
            return cleaned(found, self._scrub)
        except TimeoutError:
            return Unavailable(kind, f"timed out after {round(self._seconds * 1000)} ms")
        except (MufakatError, OSError) as problem:
            return Unavailable(kind, str(problem)[:200] or type(problem).__name__)
        except Exception:
            log.exception("the source of the section %s failed", kind)
            return Unavailable(kind, "it failed; the server's log says why")


def cleaned(found: Sequence[Found], scrub: Scrub) -> list[Found]:
    """The same without secrets, whether their source has looked for them or not."""
    return [
        dataclasses.replace(one, head=scrub(one.head).text, text=scrub(one.text).text)
        for one in found
    ]
