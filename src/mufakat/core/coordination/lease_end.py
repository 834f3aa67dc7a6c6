"""How leases go on and end: renewal, release, expiry, the rest after it, and preemption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict, lease_grant, lease_queue, resource
from mufakat.core.coordination.lease import (
    GRACE,
    LOCK_DELAY,
    MAX_HOLD,
    Book,
    Cause,
    Lease,
    Lost,
    Rule,
    Waiter,
)


@dataclass(frozen=True, slots=True)
class Ended:
    """A lease that is over now, and by which rule."""

    lease: Lease
    rule: Rule


def renew(
    lease: Lease, fence: int, *, ttl: int, book: Book, now: Millis, max_hold: int = MAX_HOLD
) -> Lease | Lost:
    """The lease with `ttl` to go; what is over stays over, even where nobody took it."""
    lost = current(lease, fence, book, now=now)
    if lost is not None:
        return lost
    longer = lease_grant.prolonged(lease, ttl, book, now=now, max_hold=max_hold)
    return replace(longer, claim_until=None)


def current(lease: Lease, fence: int, book: Book, *, now: Millis) -> Lost | None:
    """None where the fence is that of a live lease, else why it is not."""
    if lease_conflict.live(lease, now) and fence in lease.fences:
        return None
    if lease_conflict.live(lease, now):
        return Lost(Cause.REVOKED, lease.wanted.holder)
    heirs = (
        one.wanted.holder
        for one in book.leases
        if lease_conflict.live(one, now)
        and lease_conflict.touches(
            lease.wanted, lease_conflict.Claim(one.wanted, one.wanted.resources, one)
        )
    )
    return Lost(lease.cause or Cause.EXPIRED, next(heirs, ""))


def release(
    lease: Lease, fence: int, *, now: Millis, cause: Cause = Cause.RELEASED
) -> Lease | None:
    """The ended lease; None where it was gone already or the fence is not its own."""
    if not lease_conflict.live(lease, now) or fence not in lease.fences:
        return None
    return end(lease, cause, now=now)


def end(lease: Lease, cause: Cause, *, now: Millis) -> Lease:
    """The lease as it is kept after its end.

    Others rest after an expiry alone: whoever released it, or is dead for certain, writes no more.
    """
    unfenced = not all(resource.fenced(key) for key in lease.wanted.resources)
    delay = min(lease.wanted.ttl, LOCK_DELAY) if unfenced and cause is Cause.EXPIRED else 0
    claimed = lease.claim_until is None
    locked = Millis(now + delay) if delay and claimed else None
    return replace(
        lease, ended=now, cause=cause, claim_until=None, preempt_at=None, locked_until=locked
    )


def overdue(book: Book, now: Millis) -> Iterator[Ended]:
    """Leases that are over by time, in the order (expires, resource)."""
    for lease in sorted(book.leases, key=lambda one: (one.expires, one.wanted.resources)):
        if lease.ended is not None:
            continue
        if lease.expires <= now:
            yield Ended(end(lease, Cause.EXPIRED, now=now), Rule.TTL)
        elif lease.claim_until is not None and lease.claim_until <= now:
            yield Ended(end(lease, Cause.EXPIRED, now=now), Rule.NOT_CLAIMED)


def given_up(book: Book, now: Millis) -> list[Waiter]:
    """Entries whose request is over."""
    return [waiter for waiter in book.waiters if waiter.until <= now]


def preempted(lease: Lease, book: Book, now: Millis) -> Waiter | None:
    """Who takes a lease whose grace is over: the first of a higher class that still waits."""
    claim = lease_conflict.Claim(lease.wanted, lease.wanted.resources, lease)
    return next(
        (
            waiter
            for waiter in lease_queue.ordered(book)
            if waiter.wanted.rank > lease.wanted.rank
            and waiter.wanted.holder != lease.wanted.holder
            and lease_conflict.met(waiter.wanted, [claim])
        ),
        None,
    )


def left_over(lease: Lease, newest: Callable[[str], int]) -> lease_conflict.Claim:
    """What of an ended lease nobody has had since, by the newest fence of each resource."""
    return lease_conflict.Claim(
        lease.wanted,
        [
            key
            for key, fence in zip(lease.wanted.resources, lease.fences, strict=True)
            if newest(key) == fence
        ],
        lease,
    )


def takes_over(waiter: Waiter, left: lease_conflict.Claim) -> bool:
    """Whether somebody who waited comes after the holder of a lease that has ended."""
    lease = left.source
    if not isinstance(lease, Lease) or lease.ended is None:
        return False
    waited = waiter.enqueued <= max(lease.ended, lease.locked_until or lease.ended)
    return waited and lease_conflict.touches(waiter.wanted, left)


def after_start(lease: Lease, now: Millis) -> Lease:
    """A live lease when the server starts: its holder could not renew meanwhile."""
    expires = Millis(max(lease.expires, now + min(lease.wanted.ttl, GRACE)))
    return replace(lease, expires=expires, preempt_at=None)
