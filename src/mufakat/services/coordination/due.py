"""Which letters an agent that asks for its mail is given: new ones, and those it still owes."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.coordination import delivery
from mufakat.core.coordination.inbox import UNREAD, Delivery
from mufakat.ports.store import Transaction

AT_ONCE = 500


def page(tx: Transaction, identity: str, *, after: int, limit: int) -> Sequence[Delivery]:
    """Entries of an inbox above `after` that are due, oldest first, whatever lies between them."""
    found: list[Delivery] = []
    while len(found) < limit:
        rows = tx.inbox.page(identity, after=after, open_only=True, limit=AT_ONCE)
        seen = [row.message for row in rows if row.status not in UNREAD]
        owed = tx.inbox.envelopes(seen)
        found += [row for row in rows if delivery.due(row, owed.get(row.message))]
        if len(rows) < AT_ONCE:
            break
        after = rows[-1].number
    return found[:limit]
