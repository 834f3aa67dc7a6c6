"""What stands in the way of a request: leases, rests after expiry, and those who came before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from mufakat.core.base import Millis
from mufakat.core.coordination import resource
from mufakat.core.coordination.lease import Book, Holder, Lease, Mode, Waiter, Wanted


@dataclass(frozen=True, slots=True)
class Claim:
    """Something of somebody else's that a request must not meet."""

    wanted: Wanted
    resources: Sequence[str]
    """Those of its resources that count."""
    source: Lease | Waiter


def live(lease: Lease, now: Millis) -> bool:
    """Whether it is held at `now`, also where its expiry has not been recorded yet."""
    if lease.ended is not None or lease.expires <= now:
        return False
    return lease.claim_until is None or lease.claim_until > now


def rests(lease: Lease, now: Millis) -> bool:
    """Whether an ended lease still keeps others away."""
    return lease.ended is not None and lease.locked_until is not None and lease.locked_until > now


def same(one: Wanted, other: Wanted) -> bool:
    """Whether it is the same request of the same holder."""
    return (one.holder, one.resources, one.mode, one.slots) == (
        other.holder,
        other.resources,
        other.mode,
        other.slots,
    )


def claims(holder: str, leases: Iterable[Lease], now: Millis) -> Iterator[Claim]:
    """What others hold; nobody is in their own way."""
    for lease in leases:
        if lease.wanted.holder == holder:
            continue
        if live(lease, now):
            yield Claim(lease.wanted, lease.wanted.resources, lease)
        elif rests(lease, now):
            open_ = [key for key in lease.wanted.resources if not resource.fenced(key)]
            yield Claim(lease.wanted, open_, lease)


def queued(holder: str, waiters: Iterable[Waiter]) -> Iterator[Claim]:
    """What others wait for."""
    for waiter in waiters:
        if waiter.wanted.holder != holder:
            yield Claim(waiter.wanted, waiter.wanted.resources, waiter)


def met(wanted: Wanted, others: Sequence[Claim]) -> list[tuple[Claim, str]]:
    """The claims that the request meets, each with the first resource where it does."""
    found = [(claim, clash(wanted, claim)) for claim in others]
    hits = [(claim, where) for claim, where in found if where]
    return hits if wanted.slots == 1 else hits + _full(wanted, others)


def clash(wanted: Wanted, claim: Claim) -> str:
    """The resource of a claim that the request cannot share with it, or nothing."""
    if wanted.mode is Mode.SHARED and claim.wanted.mode is Mode.SHARED:
        return ""
    counted = wanted.slots > 1 and claim.wanted.slots > 1
    for theirs in claim.resources:
        for ours in wanted.resources:
            if counted and ours == theirs:
                continue
            if resource.overlap(ours, theirs):
                return theirs
    return ""


def touches(wanted: Wanted, claim: Claim) -> bool:
    """Whether they are about one thing at all, in whatever mode."""
    return any(
        resource.overlap(ours, theirs) for ours in wanted.resources for theirs in claim.resources
    )


def blocked(book: Book, wanted: Wanted, now: Millis) -> list[tuple[Claim, str]]:
    """What of the leases stands in the way."""
    return met(wanted, list(claims(wanted.holder, book.leases, now)))


def holder(claim: Claim, where: str, now: Millis) -> Holder:
    """How the one who stands in the way is told."""
    source = claim.source
    match source:
        case Lease():
            until = source.expires if live(source, now) else source.locked_until or now
            since, id = source.since, source.id
        case Waiter():
            until, since, id = source.until, source.enqueued, ""
    return Holder(
        holder=claim.wanted.holder,
        resource=where,
        since=since,
        remaining=max(0, until - now),
        reason=claim.wanted.reason,
        lease=id,
    )


def _full(wanted: Wanted, others: Sequence[Claim]) -> list[tuple[Claim, str]]:
    """Counted resources without room: all that take their places."""
    found: list[tuple[Claim, str]] = []
    for key in wanted.resources:
        taken = [one for one in others if one.wanted.slots > 1 and key in one.resources]
        room = min([wanted.slots, *(one.wanted.slots for one in taken)])
        if len({one.wanted.holder for one in taken}) >= room:
            found.extend((one, key) for one in taken)
    return found
