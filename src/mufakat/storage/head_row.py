"""The one row that every write moves: how it is read, written, begun and begun anew."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from mufakat.core import base
from mufakat.core.base import Millis
from mufakat.storage import reset, tables
from mufakat.storage.scope import Head, Record

_head = tables.head
READ = select(_head.c.epoch, _head.c.generation, _head.c.revision, _head.c.hwm, _head.c.chain)
SAVE = update(_head).values(
    epoch=bindparam("new_epoch"),
    generation=bindparam("new_generation"),
    revision=bindparam("new_revision"),
    hwm=bindparam("new_hwm"),
    chain=bindparam("new_chain"),
)
_INSERT = insert(_head)


def read(connection: Connection, *, lock: bool = False) -> Head:
    """Read the row; `lock` waits for whoever writes and keeps others out until the commit."""
    return head_of(connection.execute(READ.with_for_update() if lock else READ).all())


def head_of(rows: Sequence[Record] | None) -> Head:
    """What READ has found; raises StoreCorrupt where that is nothing."""
    if not rows:
        raise base.StoreCorrupt("The head row of the database is missing.")
    row = rows[0]
    return Head(row.epoch, row.generation, row.revision, row.hwm, row.chain)


def values(head: Head) -> dict[str, Any]:
    """Parameters of SAVE."""
    return {
        "new_epoch": head.epoch,
        "new_generation": head.generation,
        "new_revision": head.revision,
        "new_hwm": head.hwm,
        "new_chain": head.chain,
    }


def begin(connection: Connection) -> None:
    """Write the first head of an empty database."""
    row = {"id": 1, "epoch": new_epoch(), "generation": 1, "revision": 0, "hwm": 0, "chain": ""}
    connection.execute(_INSERT, row)


def begin_generation(connection: Connection, old: Head, *, at_least: int) -> Head:
    """Start a new generation and epoch, so that nobody takes this history for another.

    Leases end and sessions must register again: the other history may have given both on.
    """
    new = replace(old, epoch=new_epoch(), generation=max(old.generation, at_least) + 1)
    connection.execute(SAVE, values(new))
    reset.end_what_was_live(connection, Millis(new.hwm))
    return new


def new_epoch() -> str:
    """A name for a history that no other database has."""
    return uuid.uuid4().hex
