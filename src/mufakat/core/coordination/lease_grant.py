"""Granting: whether a request gets what it wants now, and what the grant looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict, lease_queue
from mufakat.core.coordination.lease import (
    MAX_HOLD,
    STEP_IN,
    Answer,
    Book,
    Granted,
    Held,
    Lease,
    Renewed,
    Rule,
    Waiter,
    Wanted,
)


def decide(asked: Waiter, book: Book, *, now: Millis, max_hold: int = MAX_HOLD) -> Answer:
    """Answer a request, or an entry of the queue; all or nothing, never on a conflict."""
    wanted = asked.wanted
    hits = lease_conflict.blocked(book, wanted, now)
    own = _own(wanted, book, now)
    # A deputy's grant stands already while what it takes over still rests.
    if own is not None and (own.claim_until is None or not hits):
        longer = prolonged(own, wanted.ttl, book, now=now, max_hold=max_hold)
        return Renewed(replace(longer, claim_until=None))
    rule = Rule.HELD
    if hits and not any(_is_live(claim, now) for claim, _ in hits):
        rule = Rule.LOCK_DELAY
    if not hits:
        rule = Rule.QUEUED_BEFORE
        hits = [(claim, claim.resources[0]) for claim in lease_queue.ahead(asked, book, now)]
    if not hits:
        return Granted()
    holders = tuple(lease_conflict.holder(claim, where, now) for claim, where in hits)
    return Held(holders, lease_queue.position(asked, book), rule)


def grant(id: str, wanted: Wanted, fences: Sequence[int], *, now: Millis, claim: int = 0) -> Lease:
    """The lease of a request that is granted; with `claim` it must be claimed in so long."""
    return Lease(
        id=id,
        wanted=wanted,
        fences=tuple(fences),
        since=now,
        expires=Millis(now + wanted.ttl),
        claim_until=Millis(now + claim) if claim else None,
    )


def claimed(lease: Lease) -> Lease:
    """A grant to somebody who waited, taken by the request that waited."""
    return replace(lease, claim_until=None)


def prolonged(
    lease: Lease, ttl: int, book: Book, *, now: Millis, max_hold: int = MAX_HOLD
) -> Lease:
    """The lease until `ttl` from now: never shorter than before.

    While somebody waits for it, it grows no further than `max_hold` after its grant.
    """
    until = now + ttl
    if lease_queue.contested(lease.wanted, book):
        until = min(until, lease.since + max_hold)
    return replace(lease, expires=Millis(max(lease.expires, until)))


def heir(lease: Lease) -> Wanted | None:
    """What the deputy of an ended lease gets before anybody in the queue; None without one."""
    name = lease.wanted.deputy
    if not name or name == lease.wanted.holder:
        return None
    return replace(lease.wanted, holder=name, deputy="")


def step_in(lease: Lease, *, now: Millis) -> int:
    """How long the deputy of an ended lease has to claim it: the rest, and some time to hear."""
    return max(0, (lease.locked_until or now) - now) + STEP_IN


def _own(wanted: Wanted, book: Book, now: Millis) -> Lease | None:
    """The lease that the holder has by the same request; of several the newest."""
    found = [
        lease
        for lease in book.leases
        if lease_conflict.same(lease.wanted, wanted) and lease_conflict.live(lease, now)
    ]
    return max(found, key=lambda lease: lease.fences, default=None)


def _is_live(claim: lease_conflict.Claim, now: Millis) -> bool:
    source = claim.source
    return isinstance(source, Lease) and lease_conflict.live(source, now)
