"""Queries about who waits for a lease, in order of arrival."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, literal_column, select

from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Mode, Waiter, Wanted
from mufakat.storage import coordination_tables as tables
from mufakat.storage.scope import Record, Scope

_waiters = tables.waiters
_c = _waiters.c
_ALL = select(
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
    _c.enqueued,
    _c.until,
).order_by(_c.number)
_NEXT = select(func.coalesce(func.max(_c.number), literal_column("0")) + 1)
_EARLIEST = select(func.min(_c.until))
_INSERT = insert(_waiters)
_DELETE = delete(_waiters).where(_c.id == bindparam("key"))


class Waiters:
    """The queue."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def all(self) -> Sequence[Waiter]:
        """In order of arrival."""
        return [_waiter(row) for row in self._scope.rows(_ALL)]

    def add(self, waiter: Waiter) -> None:
        """Put one at the end."""
        number = self._scope.rows(_NEXT)[0][0]
        row = {"id": waiter.id, "number": number, **to_row(waiter.wanted)}
        self._scope.change(_INSERT, {**row, "enqueued": waiter.enqueued, "until": waiter.until})

    def remove(self, id: str) -> None:
        """Take one out, wherever it stands."""
        self._scope.change(_DELETE, {"key": id})

    def earliest(self) -> Millis | None:
        """When the next one gives up."""
        found: Millis | None = self._scope.rows(_EARLIEST)[0][0]
        return found


def to_row(wanted: Wanted) -> dict[str, Any]:
    """The columns of what somebody wants, of a waiter as of a lease."""
    return {
        "holder": wanted.holder,
        "resources": json.dumps(wanted.resources),
        "mode": wanted.mode.value,
        "slots": wanted.slots,
        "ttl": wanted.ttl,
        "reason": wanted.reason,
        "next_step": wanted.next_step,
        "deputy": wanted.deputy,
        "rank": wanted.rank,
    }


def wanted(row: Sequence[Any]) -> Wanted:
    """Build what somebody wants of those columns, in their order."""
    holder, resources, mode, *rest = row
    return Wanted(holder, tuple(json.loads(resources)), Mode(mode), *rest)


def _waiter(row: Record) -> Waiter:
    return Waiter(row[0], wanted(row[1:10]), row[10], row[11])
