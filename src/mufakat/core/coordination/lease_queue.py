"""The queue: who comes before whom, who waits for whom, and whether waiting would never end."""

from __future__ import annotations

from collections.abc import Mapping

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict
from mufakat.core.coordination.lease import Book, Deadlock, Mode, Waiter, Wanted


def standing(waiter: Waiter, aging: int) -> int:
    """Sort key: a class counts as time already waited, so that age wins in the end."""
    return waiter.enqueued - waiter.wanted.rank * aging


def ordered(book: Book) -> list[Waiter]:
    """The waiters, first comes first; the book lists them as they arrived, which breaks ties."""
    return sorted(book.waiters, key=lambda waiter: standing(waiter, book.aging))


def before(waiter: Waiter, book: Book) -> list[Waiter]:
    """Those that come before an entry; a new one, not in the book, is the last of its equals."""
    line = ordered(book)
    for at, one in enumerate(line):
        if one.id == waiter.id:
            return line[:at]
    own = standing(waiter, book.aging)
    return [one for one in line if standing(one, book.aging) <= own]


def ahead(waiter: Waiter, book: Book, now: Millis) -> list[lease_conflict.Claim]:
    """What earlier entries wait for and this one must leave to them.

    An entry that itself waits for this one's holder is passed by: it could not go first anyway.
    """
    others = list(lease_conflict.queued(waiter.wanted.holder, before(waiter, book)))
    hits = [claim for claim, _ in lease_conflict.met(waiter.wanted, others)]
    if not hits:
        return []
    graph = _edges(book, now, queue=True)
    goal = waiter.wanted.holder
    return [claim for claim in hits if not _path(graph, claim.wanted.holder, goal)]


def position(waiter: Waiter, book: Book) -> int:
    """Place among those who want the same, from 1."""
    others = lease_conflict.queued("", before(waiter, book))
    return 1 + sum(1 for claim in others if lease_conflict.touches(waiter.wanted, claim))


def depth(wanted: Wanted, book: Book) -> int:
    """How many wait for something that the request wants too."""
    others = lease_conflict.queued("", book.waiters)
    return sum(1 for claim in others if lease_conflict.touches(wanted, claim))


def contested(wanted: Wanted, book: Book) -> bool:
    """Whether somebody else waits for something of it, and sharing does not help."""
    shared = wanted.mode is Mode.SHARED
    return any(
        lease_conflict.touches(wanted, claim)
        for claim in lease_conflict.queued(wanted.holder, book.waiters)
        if not (shared and claim.wanted.mode is Mode.SHARED)
    )


def cycle(wanted: Wanted, book: Book, now: Millis) -> Deadlock | None:
    """The circle that waiting for it would close, if it would."""
    graph = _edges(book, now, queue=False)
    for claim, _ in lease_conflict.blocked(book, wanted, now):
        found = _path(graph, claim.wanted.holder, wanted.holder)
        if found:
            return Deadlock((wanted.holder, *found[:-1]))
    return None


def stuck(waiter: Waiter, book: Book, now: Millis) -> Deadlock | None:
    """The circle that an entry came into while it waited, told to the youngest of it alone."""
    found = cycle(waiter.wanted, book, now)
    if found is None:
        return None
    members = [
        one
        for one in book.waiters
        if one.wanted.holder in found.cycle and cycle(one.wanted, book, now)
    ]
    return found if members[-1].id == waiter.id else None


def _edges(book: Book, now: Millis, *, queue: bool) -> Mapping[str, set[str]]:
    """Who waits for whom: for leases, and with `queue` for those who come before as well."""
    graph: dict[str, set[str]] = {}
    line = ordered(book)
    for at, waiter in enumerate(line):
        hits = lease_conflict.blocked(book, waiter.wanted, now)
        if queue:
            earlier = lease_conflict.queued(waiter.wanted.holder, line[:at])
            hits += lease_conflict.met(waiter.wanted, list(earlier))
        graph.setdefault(waiter.wanted.holder, set()).update(one.wanted.holder for one, _ in hits)
    return graph


def _path(graph: Mapping[str, set[str]], start: str, goal: str) -> tuple[str, ...]:
    """Names from start to goal, both included, or nothing."""
    trails: dict[str, tuple[str, ...]] = {start: (start,)}
    open_ = [start]
    while open_:
        name = open_.pop(0)
        if name == goal:
            return trails[name]
        for following in sorted(graph.get(name, ())):
            if following not in trails:
                trails[following] = (*trails[name], following)
                open_.append(following)
    return ()
