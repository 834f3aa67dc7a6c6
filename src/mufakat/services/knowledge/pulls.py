"""Answering pulls: one registry of handlers, whichever way an agent asks."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from mufakat.core.base import MufakatError
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull, resolution
from mufakat.core.pack.item import Item, Resolution
from mufakat.core.pack.pull import Answer, Form, Kind, Want
from mufakat.core.pack.sections import found as telling
from mufakat.ports.scrub import Scrub
from mufakat.services.knowledge import gathering
from mufakat.services.knowledge.gathering import Source, Subject

log = logging.getLogger(__name__)

SECONDS = 10.0
"""For one request; a search of a large project for the first time may take as long."""
RUNS = 256
"""Runs whose answers are kept; those of the oldest are forgotten first."""
PER_RUN = 64
"""Different requests of one run, whichever way; more is a loop."""
PARALLEL = 8
QUERY_CHARS = 10_000
NAMED = frozenset({Kind.SKILL, Kind.SESSION})
"""Kinds whose query is a name."""
TALK = frozenset({Kind.RECALL, Kind.MEMORY, Kind.MESSAGE, Kind.SESSION})
"""Kinds that tell what others say at the same time."""
LATER: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.PLAN: "plans are not part of this version",
        Kind.ARTIFACT: "artifacts are not part of this version",
    }
)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: what it may see, and the run whose answers are kept."""

    subject: Subject
    """Where it stands; its text is not looked at."""
    fence: str
    """Mark of the lines that introduce what others said."""
    run: str = ""
    """Empty for whoever is no run of ours."""


class Pulls:
    """Looks things up for agents, and remembers what each run was answered."""

    def __init__(
        self, handlers: Mapping[Kind, Source], scrub: Scrub, *, seconds: float = SECONDS
    ) -> None:
        self._handlers = handlers
        self._scrub = scrub
        self._seconds = seconds
        self._runs: OrderedDict[str, dict[Want, Answer]] = OrderedDict()
        self._confined: set[str] = set()
        self._room = asyncio.Semaphore(PARALLEL)

    async def answer(self, asker: Asker, want: Want) -> Answer:
        """Answer one request; what cannot be had is an answer with the reason.

        The same request of the same run is answered by what it was answered before.
        """
        asked = self._asked(asker)
        if want in asked:
            return asked[want]
        if len(asked) >= PER_RUN:
            return pull.refused(want, f"this run has asked for {PER_RUN} things already")
        answer = await self._look(asker, want)
        if asker.run:
            asked[want] = answer
        return answer

    async def answer_all(self, asker: Asker, wants: Sequence[Want]) -> tuple[Answer, ...]:
        """Answer several requests at once, in their order."""
        return tuple(await asyncio.gather(*(self.answer(asker, want) for want in wants)))

    def of_run(self, run: str) -> tuple[Answer, ...]:
        """What a run was answered, in the order in which it asked."""
        return tuple(self._runs.get(run, {}).values())

    def confine(self, run: str) -> None:
        """Answer a run nothing of what others say: it is told what it may hear of them."""
        self._confined.add(run)

    def forget(self, run: str) -> None:
        """Drop the answers of a run that has ended."""
        self._runs.pop(run, None)
        self._confined.discard(run)

    def _asked(self, asker: Asker) -> dict[Want, Answer]:
        if not asker.run:
            return {}
        asked = self._runs.setdefault(asker.run, {})
        self._runs.move_to_end(asker.run)
        if len(self._runs) > RUNS:
            self._runs.popitem(last=False)
        return asked

    async def _look(self, asker: Asker, want: Want) -> Answer:
        kind = pull.kind_of(want)
        handler = self._handlers.get(kind) if kind else None
        if handler is None:
            return pull.refused(want, _unknown(kind))
        if kind in TALK and asker.run in self._confined:
            return pull.refused(want, "a seat hears the others through its roundtable only")
        query = want.query.strip()[:QUERY_CHARS]
        whole = kind in NAMED or want.form is Form.FULL or _names_part(kind, query)
        subject = replace(asker.subject, text=query, whole=whole)
        try:
            async with self._room:
                found = await asyncio.wait_for(handler(subject), self._seconds)
        except TimeoutError:
            return pull.refused(want, f"timed out after {self._seconds:g} s")
        except (MufakatError, OSError) as problem:
            return pull.refused(want, f"{problem} {getattr(problem, 'fix', '')}".strip()[:300])
        except Exception:
            log.exception("the handler of %s failed", kind)
            return pull.refused(want, "it failed; the server's log says why")
        return answered(want, gathering.cleaned(found, self._scrub), fence=asker.fence)


def _unknown(kind: Kind | None) -> str:
    """Why nobody answers requests of a kind."""
    if kind is None:
        return f"there is no such kind; these are: {', '.join(Kind)}"
    return LATER.get(kind, f"{kind} is not available here")


def answered(want: Want, found: Sequence[Found], *, fence: str) -> Answer:
    """Tell what was found within the characters of the wanted form."""
    if not found:
        return pull.refused(want, "nothing was found")
    items = telling.items(found, fence)
    if want.form is Form.PROBE:
        items = [_shortest(one) for one in items]
    chosen = resolution.choose(items, _chars(want))
    text = resolution.SEPARATOR.join(piece.text for piece in chosen.pieces)
    whole = sum(len(one.text) for one in found)
    why = "" if chosen.why == "all of it fits" else chosen.why
    return Answer(want, text, tuple(piece.told.id for piece in chosen.pieces), whole, why)


def _chars(want: Want) -> int:
    """A skill is followed as a whole: half of it would be followed wrongly."""
    skill = want.kind == Kind.SKILL and want.form is Form.SLICE
    return pull.CHARS[Form.FULL if skill else want.form]


def _names_part(kind: Kind | None, query: str) -> bool:
    return kind is Kind.DOCS and "#" in query


def _shortest(item: Item) -> Item:
    """An item by its name alone."""
    return replace(item, forms=((Resolution.REFERENCE, item.forms[-1][1]),))
