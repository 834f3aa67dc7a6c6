"""Leases and those who stand in line for them, as JSON data."""

from __future__ import annotations

from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Holder, Lease, Waiter
from mufakat.server.http.views import Json, stamp, when


def lease(one: Lease, now: Millis) -> Json:
    """A grant; fences are texts, since most JSON readers round numbers beyond 53 bits."""
    wanted = one.wanted
    live = one.ended is None
    return {
        "id": one.id,
        "holder": wanted.holder,
        "resources": list(wanted.resources),
        "mode": wanted.mode.value,
        "slots": wanted.slots,
        "fences": {
            name: str(fence) for name, fence in zip(wanted.resources, one.fences, strict=True)
        },
        "since": stamp(one.since),
        "expires": stamp(one.expires),
        "expires_in": max(0, one.expires - now) / 1000 if live else 0.0,
        "reason": wanted.reason,
        "next_step": wanted.next_step,
        "deputy": wanted.deputy,
        "rank": wanted.rank,
        "state": state(one),
        "cause": one.cause.value if one.cause else "",
        "preempt_at": when(one.preempt_at),
    }


def state(one: Lease) -> str:
    """Whether it has ended, or was granted to somebody who has yet to come for it."""
    if one.ended is not None:
        return "ended"
    return "live" if one.claim_until is None else "claimable"


def holder(one: Holder) -> Json:
    """Who stands in the way."""
    return {
        "holder": one.holder,
        "resource": one.resource,
        "since": stamp(one.since),
        "remaining": max(0, one.remaining) / 1000,
        "reason": one.reason,
        "lease": one.lease,
    }


def waiter(one: Waiter) -> Json:
    """An entry of the queue."""
    wanted = one.wanted
    return {
        "id": one.id,
        "holder": wanted.holder,
        "resources": list(wanted.resources),
        "mode": wanted.mode.value,
        "slots": wanted.slots,
        "reason": wanted.reason,
        "rank": wanted.rank,
        "enqueued": stamp(one.enqueued),
        "until": stamp(one.until),
    }
