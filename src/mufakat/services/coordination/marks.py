"""Marking deliveries: every change of one is kept and announced in the same step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from mufakat.core.base import BadCursor, Event
from mufakat.core.coordination import delivery
from mufakat.core.coordination.inbox import Delivery, Path, Status
from mufakat.core.coordination.instance import Instance
from mufakat.ports.store import Transaction

AT_ONCE = 10_000
"""Entries of an inbox that one acknowledgement reaches."""
FEW, MANY = 4, 200
"""Entries that the cursor looks at first, since most often one was done with, and then."""


def keep(tx: Transaction, row: Delivery) -> None:
    """Store a changed delivery and announce what became of it."""
    tx.inbox.keep(row)
    announce(tx, row)


def announce(tx: Transaction, row: Delivery, **more: str) -> None:
    """Tell the log how far a message got with a recipient."""
    match row.status:
        case Status.QUEUED:
            kind = "inbox.delivered"
        case Status.SHOWN:
            kind = "inbox.shown"
        case Status.DECLINED:
            kind = "inbox.declined"
        case Status.EXPIRED:
            kind = "inbox.expired"
        case Status.DEAD:
            kind = "inbox.dead"
        case Status.ACKED | Status.ANSWERED:
            kind = "inbox.acked"
        case Status.HELD | Status.OFFERED:
            return
    data = {"message": row.message, "number": row.number, "status": row.status.value, **more}
    tx.events.record(Event(kind, row.recipient, data))


def show(tx: Transaction, rows: Iterable[Delivery], *, epoch: int, turn: str, path: Path) -> None:
    """Count messages as shown to a session."""
    for row in rows:
        shown = delivery.show(row, epoch=epoch, turn=turn, at=tx.now())
        tx.inbox.keep(shown)
        announce(tx, shown, path=path.value)


def move(tx: Transaction, rows: Iterable[Delivery], to: Status, *, note: str = "") -> None:
    """Give messages a new status."""
    for row in rows:
        keep(tx, delivery.move(row, to, at=tx.now(), note=note))


def advance(tx: Transaction, identity: str) -> int:
    """Move an inbox's cursor over everything that is done with; answers it."""
    instance = tx.instances.get(identity)
    if instance is None:
        return 0
    cursor, limit, whole = instance.acked, FEW, True
    while whole:
        rows = tx.inbox.page(identity, after=cursor, limit=limit)
        cursor = delivery.cursor(rows, cursor)
        # Where all that was looked at is done with, there may be more of it.
        whole, limit = len(rows) == limit and rows[-1].number == cursor, MANY
    if cursor != instance.acked:
        tx.instances.keep(dataclasses.replace(instance, acked=cursor))
    return cursor


def ack_upto(tx: Transaction, reader: Instance, upto: int) -> Sequence[Delivery]:
    """Acknowledge up to a number; answers what is done with now. Raises BadCursor."""
    if upto > reader.inbox_head:
        raise BadCursor(f"The inbox ends at {reader.inbox_head}; {upto} was never delivered.")
    limit = min(AT_ONCE, max(1, reader.inbox_head - reader.acked))
    rows = tx.inbox.page(reader.identity, after=reader.acked, limit=limit)
    acked = delivery.ack_upto(rows, upto, acked=reader.acked, epoch=reader.epoch, at=tx.now())
    for row in acked.done:
        keep(tx, row)
    return acked.done


def ack_each(
    tx: Transaction, reader: Instance, numbers: Sequence[int], *, decline: str
) -> Sequence[Delivery]:
    """Acknowledge or decline single messages; answers what is done with now."""
    rows = numbered(tx, reader, numbers)
    done = delivery.ack_each(rows, epoch=reader.epoch, at=tx.now(), decline=decline).done
    for row in done:
        keep(tx, row)
    return done


def numbered(tx: Transaction, reader: Instance, numbers: Sequence[int]) -> list[Delivery]:
    """Entries of an inbox by number; raises BadCursor where there is none."""
    found: list[Delivery] = []
    for number in sorted(set(numbers)):
        inside = 0 < number <= reader.inbox_head
        rows = tx.inbox.page(reader.identity, after=number - 1, limit=1) if inside else ()
        if not rows or rows[0].number != number:
            raise BadCursor(f"There is no message {number} in this inbox.")
        found += rows
    return found
