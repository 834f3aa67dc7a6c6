"""What must not go on when a database begins a new generation: nobody it knew may still act."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, text, update

from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Cause
from mufakat.ports.coordination import Life
from mufakat.storage import coordination_tables as tables

# The history before may have granted, released or revoked what this copy does not know of.
_END_LEASES = (
    update(tables.leases)
    .where(text(tables.NOT_ENDED))
    .values(ended=bindparam("now"), cause=Cause.REVOKED.value, locked_until=None)
)
_END_PARTS = update(tables.lease_resources).where(text(tables.IN_FORCE)).values(live=0)
_EMPTY_QUEUE = delete(tables.waiters)
_REVOKE = update(tables.credentials).where(text(tables.LIVE)).values(life=Life.REVOKED.value)


def end_what_was_live(connection: Connection, now: Millis) -> None:
    """End all leases, empty the queue and revoke all credentials."""
    connection.execute(_END_LEASES, {"now": now})
    connection.execute(_END_PARTS)
    connection.execute(_EMPTY_QUEUE)
    connection.execute(_REVOKE)
