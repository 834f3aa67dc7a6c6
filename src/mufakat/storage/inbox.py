"""Queries about deliveries: numbered here, and what is still open is found without the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, func, insert, select, text, update

from mufakat.core import base
from mufakat.core.base import MessageId, Millis
from mufakat.core.coordination import inbox
from mufakat.core.coordination.inbox import Delivery, Envelope, Intent, Status
from mufakat.storage import coordination_tables as tables
from mufakat.storage import envelopes
from mufakat.storage.envelopes import Envelopes
from mufakat.storage.paging import KEYS
from mufakat.storage.scope import Record, Scope

_deliveries = tables.deliveries
_c = _deliveries.c
_SELECT = select(
    _c.recipient,
    _c.number,
    _c.message,
    _c.status,
    _c.at,
    _c.offered_until,
    _c.offered_to,
    _c.times,
    _c.turn,
    _c.note,
    _c.turns,
)
_TO_RECIPIENT = _c.recipient == bindparam("to_recipient")
_GET = _SELECT.where(_TO_RECIPIENT, _c.message == bindparam("key"))
_GET_SOME = KEYS.of(_SELECT.where(_TO_RECIPIENT), _c.message)
_PAGE = (
    _SELECT.where(_TO_RECIPIENT, _c.number > bindparam("after"))
    .order_by(_c.number)
    .limit(bindparam("limit"))
)
_PAGE_OPEN = _PAGE.where(text(tables.OPEN))
_HELD = _SELECT.where(_TO_RECIPIENT, text(tables.HELD)).order_by(_c.message)
_OF = _SELECT.where(_c.message == bindparam("key")).order_by(_c.recipient)
_WITH_STATUS = (
    _SELECT.where(_c.status == bindparam("of_status"))
    .order_by(_c.at.desc(), _c.message.desc())
    .limit(bindparam("limit"))
)
_OFFER_ENDS = select(func.min(_c.offered_until)).where(text(tables.OFFERED))
_UNREAD = select(func.count()).select_from(_deliveries).where(text(tables.UNREAD))
_COUNT = (
    update(tables.instances)
    .where(tables.instances.c.identity == bindparam("to_recipient"))
    .values(inbox_head=tables.instances.c.inbox_head + 1)
    .returning(tables.instances.c.inbox_head)
)
_INSERT = insert(_deliveries)
_CHANGED = ("status", "at", "offered_until", "offered_to", "times", "turn", "note", "turns")
_CHANGE = (
    update(_deliveries)
    .where(_TO_RECIPIENT, _c.message == bindparam("key"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)
_GIVE_NUMBER = _CHANGE.values(number=bindparam("new_number"))


class Inbox:
    """What was sent to whom, and how far each recipient got with it."""

    __slots__ = ("_envelopes", "_scope")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._envelopes = Envelopes(scope)

    def send(self, envelope: Envelope) -> None:
        self._envelopes.add(envelope)

    def envelope(self, message: MessageId) -> Envelope | None:
        return self._envelopes.get(message)

    def envelopes(self, messages: Sequence[MessageId]) -> Mapping[MessageId, Envelope]:
        return self._envelopes.some(messages)

    def keep_envelope(self, envelope: Envelope) -> None:
        self._envelopes.keep(envelope)
        self._settle(envelope.message)

    def deliver(self, delivery: Delivery) -> Delivery:
        envelope = self._envelopes.get(delivery.message)
        if envelope is None:
            raise base.NotFound(f"There is no envelope of {delivery.message}.")
        delivery = replace(delivery, number=self._number(delivery))
        if not self._was_held(delivery):
            asked = envelope.intent is Intent.REQUEST and not envelope.watched
            self._scope.change(_INSERT, {**_to_row(delivery), "asked": int(asked)})
        if envelopes.next_due(envelope, {delivery.status}) is not None:
            self._settle(delivery.message)
        return delivery

    def get(self, recipient: str, message: MessageId) -> Delivery | None:
        found = self._scope.row(_GET, {"to_recipient": recipient, "key": message})
        return None if found is None else _delivery(found)

    def among(self, recipient: str, messages: Sequence[MessageId]) -> Sequence[Delivery]:
        rows: list[Delivery] = []
        for params in KEYS.params(messages):
            rows += self._all(_GET_SOME, {"to_recipient": recipient, **params})
        return rows

    def keep(self, delivery: Delivery) -> None:
        if not self._change(_CHANGE, delivery):
            raise base.NotFound(f"{delivery.recipient} has no message {delivery.message}.")
        if delivery.status is Status.QUEUED or delivery.status not in inbox.OPEN:
            self._settle(delivery.message)

    def page(
        self, recipient: str, *, after: int = 0, open_only: bool = False, limit: int = 100
    ) -> Sequence[Delivery]:
        params = {"to_recipient": recipient, "after": after, "limit": limit}
        return self._all(_PAGE_OPEN if open_only else _PAGE, params)

    def held(self, name: str) -> Sequence[Delivery]:
        return self._all(_HELD, {"to_recipient": name})

    def of(self, message: MessageId) -> Sequence[Delivery]:
        return self._all(_OF, {"key": message})

    def sent_by(self, sender: str, *, after: Millis, limit: int = 100) -> Sequence[Envelope]:
        return self._envelopes.sent_by(sender, after=after, limit=limit)

    def due(self, now: Millis) -> Sequence[Envelope]:
        return self._envelopes.due(now)

    def earliest(self) -> Millis | None:
        ends = (self._envelopes.earliest(), self._scope.rows(_OFFER_ENDS)[0][0])
        return min((end for end in ends if end is not None), default=None)

    def awaited_from(self, recipient: str) -> Sequence[Envelope]:
        return self._envelopes.awaited_from(recipient)

    def with_status(self, status: Status, *, limit: int = 100) -> Sequence[Delivery]:
        return self._all(_WITH_STATUS, {"of_status": status.value, "limit": limit})

    def unread(self) -> int:
        return int(self._scope.rows(_UNREAD)[0][0])

    def _all(self, statement: Any, params: dict[str, Any]) -> list[Delivery]:
        return [_delivery(row) for row in self._scope.rows(statement, params)]

    def _number(self, delivery: Delivery) -> int:
        if delivery.status is Status.HELD:
            return 0
        counted = self._scope.row(_COUNT, {"to_recipient": delivery.recipient})
        if counted is None:
            raise base.NotFound(f"There is no agent {delivery.recipient}.")
        return int(counted[0])

    def _was_held(self, delivery: Delivery) -> bool:
        """Whether it waited under this very name; then its row has been changed."""
        old = self.get(delivery.recipient, delivery.message)
        if old is None:
            return False
        if old.number:
            raise base.Conflict(f"{delivery.recipient} has the message {delivery.message} already.")
        return self._change(_GIVE_NUMBER, delivery, new_number=delivery.number or None)

    def _change(self, statement: Any, delivery: Delivery, **more: int | None) -> bool:
        row = _to_row(delivery)
        one = {"to_recipient": delivery.recipient, "key": delivery.message}
        changed = {f"new_{name}": row[name] for name in _CHANGED}
        return bool(self._scope.change(statement, {**one, **changed, **more}))

    def _settle(self, message: MessageId) -> None:
        envelope = self._envelopes.get(message)
        if envelope is not None and (envelope.deadline, envelope.expires) != (None, None):
            self._envelopes.settle(envelope, {delivery.status for delivery in self.of(message)})


def _to_row(delivery: Delivery) -> dict[str, Any]:
    return {
        "recipient": delivery.recipient,
        "number": delivery.number or None,
        "message": delivery.message,
        "status": delivery.status.value,
        "at": delivery.at,
        "offered_until": delivery.offered_until,
        "offered_to": delivery.offered_to,
        "times": delivery.times,
        "turn": delivery.turn,
        "note": delivery.note,
        "turns": delivery.turns,
    }


def _delivery(row: Record) -> Delivery:
    recipient, number, message, status, *rest = row
    return Delivery(recipient, number or 0, message, Status(status), *rest)
