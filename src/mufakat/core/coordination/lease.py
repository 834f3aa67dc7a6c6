"""Advisory leases: who may use a resource until when, and by which fence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mufakat.core.base import Millis

MIN_TTL, DEFAULT_TTL, MAX_TTL = 5_000, 900_000, 86_400_000
"""Milliseconds."""
RESOURCES = 32
MAX_WAIT = 600_000
CLAIM = 10_000
"""A grant to somebody who waited passes on when it is not claimed in this time."""
MAX_HOLD = 8 * 3_600_000
"""While somebody waits nobody renews beyond it."""
QUEUE = 256


AGING = 900_000
"""Each priority class counts as having waited so much longer: nobody starves."""
LOCK_DELAY = 15_000
GRACE = 30_000
"""After a start of the server every lease lives so long at least, or its ttl."""
STEP_IN = 60_000
"""A deputy takes over within this time, or the queue goes on."""


class Rule(StrEnum):
    """By which rule something was decided."""

    FREE = "free"
    SAME_REQUEST = "same_request"
    HELD = "held"
    LOCK_DELAY = "lock_delay"
    QUEUED_BEFORE = "queued_before"
    WAITS = "waits"
    FROM_QUEUE = "from_queue"
    DEPUTY = "deputy"
    DEADLOCK = "deadlock"
    QUEUE_FULL = "queue_full"
    BUDGET = "budget"
    TOO_BROAD = "too_broad"
    PREEMPT_ASK = "preempt_ask"
    PREEMPT_GRACE = "preempt_grace"
    PREEMPT_NOW = "preempt_now"
    NOT_ASKED = "not_asked"
    """Nobody takes it, so there is nothing to put off."""
    DEFERRED = "deferred"
    """Its holder put it off; a second time is refused."""
    OPERATOR = "operator"
    TTL = "ttl"
    NOT_CLAIMED = "not_claimed"
    RENEWED = "renewed"
    ACTIVE = "active"
    """Its holder called, so it was renewed by the way."""
    AFTER_START = "after_start"
    """The server came up: its holder could not renew meanwhile."""
    STALE = "stale"
    HOLDER = "holder"
    """Its holder wished it so."""
    GONE = "gone"
    """Its holder left or died."""


class Mode(StrEnum):
    """How a resource is used."""

    EXCLUSIVE = "exclusive"
    SHARED = "shared"


class Cause(StrEnum):
    """Why a lease ended."""

    RELEASED = "released"
    EXPIRED = "expired"
    CRASHED = "crashed"
    STOLEN = "stolen"
    TRANSFERRED = "transferred"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asks for; all of it or nothing."""

    holder: str
    resources: tuple[str, ...]
    """Canonical keys, sorted, without doubles."""
    mode: Mode = Mode.EXCLUSIVE
    slots: int = 1
    """How many may hold each resource at a time; more than 1 makes it a counted resource."""
    ttl: int = DEFAULT_TTL
    """Milliseconds."""
    reason: str = ""
    next_step: str = ""
    """Handed over with the grant when the resource passes on."""
    deputy: str = ""
    """Identity that the lease goes to first when its holder is gone."""
    rank: int = 1
    """Priority class by policy, 0 to 3."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A grant; its row is kept after its end."""

    id: str
    wanted: Wanted
    fences: tuple[int, ...]
    """One a resource, in the order of `wanted.resources`: 63 bits, never falling."""
    since: Millis
    expires: Millis
    ended: Millis | None = None
    cause: Cause | None = None
    claim_until: Millis | None = None
    """A grant to a waiter that has not been claimed yet."""
    preempt_at: Millis | None = None
    """When it passes to somebody of a higher class, unless it is given back before."""
    locked_until: Millis | None = None
    """After expiry of an unfenced resource others wait so long more."""

    def fence(self, resource: str) -> int:
        """The fence of one of its resources; raises ValueError where it is not one."""
        return self.fences[self.wanted.resources.index(resource)]


@dataclass(frozen=True, slots=True)
class Waiter:
    """An entry of the queue; it lives no longer than the request that made it."""

    id: str
    wanted: Wanted
    enqueued: Millis
    until: Millis
    """When the request gives up."""


@dataclass(frozen=True, slots=True)
class Holder:
    """What stands in the way of a request."""

    holder: str
    resource: str
    since: Millis
    remaining: int
    """Milliseconds until it expires."""
    reason: str = ""
    lease: str = ""


@dataclass(frozen=True, slots=True)
class Granted:
    """It is theirs."""


@dataclass(frozen=True, slots=True)
class Renewed:
    """The very same request again: the lease they hold, perhaps longer."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody else has it, or waits for it before them."""

    holders: tuple[Holder, ...]
    position: int
    """Place in the queue that a request would get, from 1."""
    rule: Rule = Rule.HELD


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Waiting would close a circle; identities in its order, the asker first."""

    cycle: tuple[str, ...]


Answer = Granted | Renewed | Held


@dataclass(frozen=True, slots=True)
class Lost:
    """A lease that is no longer theirs."""

    reason: Cause
    holder: str = ""
    """Who has it now, if anybody."""


@dataclass(frozen=True, slots=True)
class Book:
    """The live leases and waiters that a decision is made from."""

    leases: Sequence[Lease] = ()
    waiters: Sequence[Waiter] = ()
    aging: int = AGING
