"""Queries about leases and the counters of their fences, which no end of a lease touches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)

from mufakat.core.base import Millis
from mufakat.core.coordination import pattern
from mufakat.core.coordination.lease import Cause, Lease, Waiter
from mufakat.storage import coordination_tables as tables
from mufakat.storage import waiters
from mufakat.storage.paging import FIRST, KEYS, PREFIX
from mufakat.storage.scope import Record, Scope
from mufakat.storage.waiters import Waiters

GENERATION_BITS = 40
"""A fence is the store's generation, then so many bits of the resource's own counter."""
_COUNTERS = 1 << GENERATION_BITS
MANY = 64
"""Beyond so many leases all are read at once."""

_resources = tables.resources
_leases = tables.leases
_parts = tables.lease_resources
_c = _leases.c
_OF_RESOURCE = _resources.c.resource == bindparam("of_resource")
_FENCE = select(_resources.c.fence).where(_OF_RESOURCE)
_COUNT = (
    update(_resources)
    .where(_OF_RESOURCE)
    .values(fence=bindparam("floor") + _resources.c.fence % _COUNTERS + 1)
    .returning(_resources.c.fence)
)
_FIRST_GRANT = insert(_resources)
_SELECT = select(
    _c.id,
    _c.holder,
    _c.resources,
    _c.mode,
    _c.slots,
    _c.ttl,
    _c.reason,
    _c.next_step,
    _c.deputy,
    _c.rank,
    _c.fences,
    _c.since,
    _c.expires,
    _c.ended,
    _c.cause,
    _c.claim_until,
    _c.preempt_at,
    _c.locked_until,
)
_NOT_ENDED = text(tables.NOT_ENDED)
_GET = _SELECT.where(_c.id == bindparam("key"))
_FIND = PREFIX.of(_SELECT, _c.id)
_OPEN = _SELECT.where(_NOT_ENDED).order_by(_c.since, _c.id)
_LOCKED = _SELECT.where(_c.locked_until > bindparam("now"), _c.ended.is_not(None))
_RESTED = _SELECT.where(
    _c.locked_until >= bindparam("rested_since"), _c.locked_until <= bindparam("now")
)
_OF_HOLDER = _SELECT.where(_NOT_ENDED, _c.holder == bindparam("by_holder")).order_by(
    _c.since, _c.id
)
_AMONG = KEYS.of(_SELECT.where(_NOT_ENDED), _c.id)
_OF_KEYS = KEYS.of(select(_parts.c.lease).where(text(tables.IN_FORCE)), _parts.c.resource)
_IN_FORCE = select(_parts.c.lease, _parts.c.resource).where(text(tables.IN_FORCE))
_PATTERNS = select(_parts.c.lease, _parts.c.resource).where(text(tables.IN_FORCE_PATTERN))
_HELD = select(func.count()).where(_NOT_ENDED, _c.holder == bindparam("by_holder"))
_PAST_HALF = (
    select(_c.id)
    .where(
        _NOT_ENDED,
        _c.holder == bindparam("by_holder"),
        2 * (_c.expires - bindparam("now")) < _c.ttl,
    )
    .limit(1)
)
_EARLIEST = select(func.min(_c.due)).where(_NOT_ENDED)
_LOCK_ENDS = select(func.min(_c.locked_until)).where(_c.locked_until > bindparam("now"))
_INSERT = insert(_leases)
_CHANGED = tuple(column.name for column in _c if column.name != "id")
_UPDATE = (
    update(_leases)
    .where(_c.id == bindparam("key"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)
_PARTS = select(_parts.c.resource, _parts.c.fence, _parts.c.live).where(
    _parts.c.lease == bindparam("of_lease")
)
_ADD_PART = insert(_parts)
_DROP_PARTS = delete(_parts).where(_parts.c.lease == bindparam("of_lease"))
_END_PARTS = update(_parts).where(_parts.c.lease == bindparam("of_lease")).values(live=0)


class Leases:
    """Grants, fences and the queue."""

    __slots__ = ("_queue", "_scope")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._queue = Waiters(scope)

    def next_fence(self, resource: str) -> int:
        floor = self._scope.writable().generation << GENERATION_BITS
        counted = self._scope.row(_COUNT, {"of_resource": resource, "floor": floor})
        if counted is not None:
            return int(counted[0])
        self._scope.change(_FIRST_GRANT, {"resource": resource, "fence": floor + 1})
        return floor + 1

    def fence(self, resource: str) -> int:
        found = self._scope.row(_FENCE, {"of_resource": resource})
        return 0 if found is None else int(found[0])

    def keep(self, lease: Lease) -> None:
        row = _to_row(lease)
        changed = {f"new_{name}": row[name] for name in _CHANGED}
        if not self._scope.change(_UPDATE, {"key": lease.id, **changed}):
            self._scope.change(_INSERT, row)
            self._add_parts(lease)
        elif lease.ended is not None:
            self._scope.change(_END_PARTS, {"of_lease": lease.id})
        elif self._parts(lease) != {(*part, 1) for part in _fenced(lease)}:
            self._scope.change(_DROP_PARTS, {"of_lease": lease.id})
            self._add_parts(lease)

    def get(self, id: str) -> Lease | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else _lease(found)

    def find(self, prefix: str) -> Sequence[Lease]:
        return [_lease(row) for row in self._scope.rows(_FIND, PREFIX.params(prefix, FIRST))]

    def live(self) -> Sequence[Lease]:
        return _oldest_first([*self._leases(_OPEN), *self._locked()])

    def touching(self, resources: Sequence[str]) -> Sequence[Lease]:
        found = self._near(resources)
        if len(found) > MANY:
            return self.live()
        held = [
            lease for params in KEYS.params(sorted(found)) for lease in self._leases(_AMONG, params)
        ]
        locked = [
            lease for lease in self._locked() if _may_touch(lease.wanted.resources, resources)
        ]
        return _oldest_first([*{lease.id: lease for lease in held}.values(), *locked])

    def _near(self, resources: Sequence[str]) -> set[str]:
        """The leases in force that a request may meet; most of the others cost no record."""
        if any(map(pattern.is_pattern, resources)):
            parts = self._scope.rows(_IN_FORCE)
            return {row[0] for row in parts if _may_touch((row[1],), resources)}
        keys = sorted(frozenset(resources))
        exact = {row[0] for some in KEYS.params(keys) for row in self._scope.rows(_OF_KEYS, some)}
        parts = self._scope.rows(_PATTERNS)
        return exact.union(row[0] for row in parts if _may_touch((row[1],), resources))

    def rested(self, since: Millis) -> Sequence[Lease]:
        found = self._leases(_RESTED, {"rested_since": since, "now": self._scope.now})
        return _oldest_first(found)

    def of(self, holder: str) -> Sequence[Lease]:
        return self._leases(_OF_HOLDER, {"by_holder": holder})

    def held(self, holder: str) -> int:
        return int(self._scope.rows(_HELD, {"by_holder": holder})[0][0])

    def past_half(self, holder: str) -> bool:
        params = {"by_holder": holder, "now": self._scope.now}
        return self._scope.row(_PAST_HALF, params) is not None

    def earliest(self) -> Millis | None:
        ends = (
            self._scope.rows(_EARLIEST)[0][0],
            self._scope.rows(_LOCK_ENDS, {"now": self._scope.now})[0][0],
            self._queue.earliest(),
        )
        return min((end for end in ends if end is not None), default=None)

    def waiters(self) -> Sequence[Waiter]:
        return self._queue.all()

    def enqueue(self, waiter: Waiter) -> None:
        self._queue.add(waiter)

    def dequeue(self, id: str) -> None:
        self._queue.remove(id)

    def _leases(self, statement: Any, params: dict[str, Any] | None = None) -> list[Lease]:
        return [_lease(row) for row in self._scope.rows(statement, params)]

    def _locked(self) -> list[Lease]:
        return self._leases(_LOCKED, {"now": self._scope.now})

    def _parts(self, lease: Lease) -> set[tuple[Any, ...]]:
        return {tuple(row) for row in self._scope.rows(_PARTS, {"of_lease": lease.id})}

    def _add_parts(self, lease: Lease) -> None:
        live = int(lease.ended is None)
        for resource, fence in _fenced(lease):
            part = {"lease": lease.id, "resource": resource, "fence": fence, "live": live}
            self._scope.change(_ADD_PART, {**part, "pattern": int(pattern.is_pattern(resource))})


def _may_touch(some: Sequence[str], others: Sequence[str]) -> bool:
    return any(pattern.may_overlap(one, other) for one in some for other in others)


def _fenced(lease: Lease) -> list[tuple[str, int]]:
    return list(zip(lease.wanted.resources, lease.fences, strict=True))


def _oldest_first(leases: list[Lease]) -> list[Lease]:
    return sorted(leases, key=lambda lease: (lease.since, lease.id))


def _to_row(lease: Lease) -> dict[str, Any]:
    ends = (lease.expires, lease.claim_until, lease.preempt_at)
    return {
        "id": lease.id,
        **waiters.to_row(lease.wanted),
        "fences": json.dumps(lease.fences),
        "since": lease.since,
        "expires": lease.expires,
        "ended": lease.ended,
        "cause": None if lease.cause is None else lease.cause.value,
        "claim_until": lease.claim_until,
        "preempt_at": lease.preempt_at,
        "locked_until": lease.locked_until,
        "due": min(end for end in ends if end is not None),
    }


def _lease(row: Record) -> Lease:
    fences, since, expires, ended, cause, *rest = row[10:]
    by = None if cause is None else Cause(cause)
    fences = tuple(json.loads(fences))
    return Lease(row[0], waiters.wanted(row[1:10]), fences, since, expires, ended, by, *rest)
