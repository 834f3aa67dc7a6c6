"""The event log as evidence: whether it is whole, what it holds, and what was so at a revision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from mufakat.core.audit import Anchor, Chain, Sealed
from mufakat.core.base import InvalidInput, LoggedEvent, Revision
from mufakat.core.coordination import replay
from mufakat.core.coordination.replay import Picture
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction

PAGE = 2_000
PROBLEMS = 50
"""Named ones; a log that is broken in more places is broken enough."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check of the whole log found; no `problems` means that nothing was changed."""

    anchor: Anchor
    """What the log comes to now; worth keeping elsewhere."""
    events: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Events for export, oldest first."""

    events: Sequence[Sealed]
    scrubbed: frozenset[int]
    """Revisions whose text lost a secret on the way out: their seals no longer fit."""
    reached: Revision
    """How far the log was read; events of other kinds may lie between."""
    head: Revision


class Ledger:
    """Reads the log as it lies in the database."""

    def __init__(self, store: Store, scrub: Scrub) -> None:
        self._store = store
        self._scrub = scrub

    async def verify(self, expected: Anchor | None = None) -> Verdict:
        """Follow the chain over the whole log; `expected` is an anchor that was kept elsewhere."""
        head = await self._store.read(lambda tx: tx.events.anchor())
        chain, problems, count = Chain(), list[str](), 0
        while chain.at.revision < head.revision and len(problems) < PROBLEMS:
            page = await self._sealed(chain.at.revision, head.revision)
            if not page:
                break
            count += len(page)
            problems += chain.follow(page)
            problems += _unlike(expected, page)
        if len(problems) < PROBLEMS:
            problems += chain.arrive(head)
        if expected is not None and expected.revision > head.revision:
            problems.append(f"the log ends before revision {expected.revision}, which is expected")
        return Verdict(head, count, tuple(problems[:PROBLEMS]))

    async def page(self, after: int, *, kinds: Sequence[str] = (), limit: int = PAGE) -> Page:
        """Events above a revision with their seals, without secrets."""
        head = await self._store.read(lambda tx: tx.events.head())
        found = await self._sealed(Revision(after), head, limit=limit)
        reached = found[-1].revision if found else head
        wanted = [one for one in found if not kinds or one.kind in kinds]
        clean = [replace(one, data=self._scrub(one.data).text) for one in wanted]
        lost = [new.revision for old, new in zip(wanted, clean, strict=True) if old != new]
        return Page(clean, frozenset(lost), reached, head)

    async def replay(self, at: int | None = None) -> Picture:
        """Agents, leases and inboxes at a revision, or now; raises InvalidInput for the future."""
        head, oldest = await self._store.read(lambda tx: (tx.events.head(), tx.events.oldest()))
        until = head if at is None else Revision(at)
        if not 0 <= until <= head:
            raise InvalidInput(f"The log ends at revision {head}.", fix="Name an earlier one.")
        if oldest > 1:
            raise InvalidInput(f"The log begins at revision {oldest} only.")
        picture, after = Picture(), Revision(0)
        while True:
            page = await self._store.read(partial(_changes, after=after))
            replay.fold(picture, page, until=until)
            if len(page) < PAGE or page[-1].revision >= until:
                break
            after = page[-1].revision
        picture.revision = until
        return picture

    async def _sealed(
        self, after: Revision, until: Revision, *, limit: int = PAGE
    ) -> Sequence[Sealed]:
        def query(tx: Transaction) -> Sequence[Sealed]:
            return tx.events.sealed(after, limit=limit)

        return [one for one in await self._store.read(query) if one.revision <= until]


def _changes(tx: Transaction, *, after: Revision) -> Sequence[LoggedEvent]:
    return tx.events.after(after, limit=PAGE, kinds=replay.KINDS)


def _unlike(expected: Anchor | None, page: Sequence[Sealed]) -> list[str]:
    return [
        f"revision {one.revision} is not what was kept elsewhere: the log was rewritten"
        for one in page
        if expected is not None
        and one.revision == expected.revision
        and one.chain != expected.chain
    ]


def plain(one: Sealed, *, scrubbed: bool) -> dict[str, object]:
    """An event for export; data that is damaged stays a text."""
    try:
        data: object = json.loads(one.data)
    except ValueError:
        data = one.data
    told: dict[str, object] = {
        "revision": one.revision,
        "at": one.at,
        "kind": one.kind,
        "subject": one.subject,
        "data": data,
        "seal": one.seal,
        "chain": one.chain,
    }
    return told | ({"scrubbed": True} if scrubbed else {})
