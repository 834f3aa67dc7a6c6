"""Queries about what stands beside a message that was sent; sealed, since authority rests on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from sqlalchemy import bindparam, func, insert, select, text, update

from mufakat.core import base
from mufakat.core.base import MessageId, Millis
from mufakat.core.coordination import inbox
from mufakat.core.coordination.inbox import Envelope, Intent, Status
from mufakat.storage import coordination_tables as tables
from mufakat.storage import integrity
from mufakat.storage.paging import KEYS
from mufakat.storage.scope import Record, Scope

_envelopes = tables.envelopes
_deliveries = tables.deliveries
_c = _envelopes.c
_d = _deliveries.c
_SELECT = select(
    _c.message,
    _c.conversation,
    _c.sender,
    _c.recipients,
    _c.intent,
    _c.priority,
    _c.sent,
    _c.deadline,
    _c.expires,
    _c.reply_to,
    _c.refs,
    _c.steer,
    _c.hops,
    _c.seal,
    _c.watched,
)
_GET = _SELECT.where(_c.message == bindparam("key"))
_SOME = KEYS.of(_SELECT, _c.message)
_SENT_BY = (
    _SELECT.where(_c.sender == bindparam("by_sender"), _c.sent > bindparam("after"))
    .order_by(_c.sent, _c.message)
    .limit(bindparam("limit"))
)
_DUE = _SELECT.where(_c.due <= bindparam("now")).order_by(_c.due, _c.message)
_AWAITED = (
    _SELECT.join(_deliveries, _d.message == _c.message)
    .where(_d.recipient == bindparam("to_recipient"), text(tables.AWAITED))
    .order_by(_c.sent, _c.message)
)
_EARLIEST = select(func.min(_c.due)).where(_c.due.is_not(None))
SCAN = _SELECT.where(_c.message > bindparam("after")).order_by(_c.message)
"""Every envelope, for a check of digests; limit it."""
_INSERT = insert(_envelopes)
_WATCH = update(_envelopes).where(_c.message == bindparam("key")).values(watched=bindparam("new"))
_FALLS_DUE = update(_envelopes).where(_c.message == bindparam("key")).values(due=bindparam("new"))
_TOLD = update(_deliveries).where(_d.message == bindparam("key"), _d.asked == 1).values(asked=0)


class Envelopes:
    """What was sent, and when somebody must look at it next."""

    __slots__ = ("_scope", "_sent")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._sent: dict[MessageId, Envelope] = {}
        """Of this step, so that a message to many is not read once for each of them."""

    def add(self, envelope: Envelope) -> None:
        """Store a new one; it falls due when it is delivered."""
        fields = _to_row(envelope)
        row = {**fields, "seal": integrity.seal(fields.values()), "watched": int(envelope.watched)}
        self._scope.change(_INSERT, {**row, "due": None})
        self._sent[envelope.message] = envelope

    def get(self, message: MessageId) -> Envelope | None:
        """The envelope of a message."""
        if message in self._sent:
            return self._sent[message]
        found = self._scope.row(_GET, {"key": message})
        return None if found is None else load(found)

    def some(self, messages: Sequence[MessageId]) -> Mapping[MessageId, Envelope]:
        """Those of several messages; one that there is not is left out."""
        rows = (row for params in KEYS.params(messages) for row in self._scope.rows(_SOME, params))
        found = (load(row) for row in rows)
        return {one.message: one for one in found}

    def keep(self, envelope: Envelope) -> None:
        """Store whether the sender was told; nothing else of an envelope ever changes."""
        params = {"key": envelope.message, "new": int(envelope.watched)}
        if not self._scope.change(_WATCH, params):
            raise base.NotFound(f"There is no envelope of {envelope.message}.")
        self._sent.pop(envelope.message, None)
        if envelope.watched:
            self._scope.change(_TOLD, {"key": envelope.message})

    def settle(self, envelope: Envelope, statuses: Set[Status]) -> None:
        """Keep when somebody must look at it next, by how far its recipients got."""
        params = {"key": envelope.message, "new": next_due(envelope, statuses)}
        self._scope.change(_FALLS_DUE, params)

    def sent_by(self, sender: str, *, after: Millis, limit: int) -> Sequence[Envelope]:
        """Oldest first."""
        return self._all(_SENT_BY, {"by_sender": sender, "after": after, "limit": limit})

    def due(self, now: Millis) -> Sequence[Envelope]:
        """Longest overdue first."""
        return self._all(_DUE, {"now": now})

    def earliest(self) -> Millis | None:
        """When the next one falls due."""
        found: Millis | None = self._scope.rows(_EARLIEST)[0][0]
        return found

    def awaited_from(self, recipient: str) -> Sequence[Envelope]:
        """Oldest first."""
        return self._all(_AWAITED, {"to_recipient": recipient})

    def _all(self, statement: Any, params: dict[str, Any]) -> list[Envelope]:
        return [load(row) for row in self._scope.rows(statement, params)]


def next_due(envelope: Envelope, statuses: Set[Status]) -> Millis | None:
    """The next time that still matters: the deadline until an answer, the expiry until an end."""
    pending = bool(statuses & (inbox.OPEN | {Status.HELD}))
    unanswered = envelope.requires_ack and Status.ACKED in statuses
    deadline = envelope.deadline if not envelope.watched and (pending or unanswered) else None
    times = [time for time in (deadline, envelope.expires if pending else None) if time is not None]
    return min(times, default=None)


def load(row: Record) -> Envelope:
    """Build an envelope of its row; a damaged row raises StoreCorrupt."""
    *fields, seal, watched = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("An envelope")
    message, conversation, sender, to, intent, priority, sent, *more = fields
    deadline, expires, reply_to, refs, steer, hops = more
    return Envelope(
        message,
        conversation,
        sender,
        tuple(json.loads(to)),
        Intent(intent),
        priority,
        sent,
        deadline,
        expires,
        reply_to,
        tuple(json.loads(refs)),
        bool(steer),
        hops,
        bool(watched),
    )


def _to_row(envelope: Envelope) -> dict[str, Any]:
    """Everything that never changes, in the order of the seal."""
    return {
        "message": envelope.message,
        "conversation": envelope.conversation,
        "sender": envelope.sender,
        "recipients": json.dumps(envelope.to),
        "intent": envelope.intent.value,
        "priority": envelope.priority,
        "sent": envelope.sent,
        "deadline": envelope.deadline,
        "expires": envelope.expires,
        "reply_to": envelope.reply_to,
        "refs": json.dumps(envelope.refs),
        "steer": int(envelope.steer),
        "hops": envelope.hops,
    }
