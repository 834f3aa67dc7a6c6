"""Queries about turns; the table of moves decides every change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import bindparam, insert, select, text, update

from mufakat.core import base
from mufakat.core.base import ConversationId, MessageId, PackId, TurnId
from mufakat.core.talk import turn
from mufakat.core.talk.turn import Status, Turn
from mufakat.core.talk.usage import Usage
from mufakat.storage import tables
from mufakat.storage.paging import FIRST, NEWEST, PREFIX
from mufakat.storage.scope import Record, Scope

_turns = tables.turns
_SELECT = select(
    _turns.c.id,
    _turns.c.conversation,
    _turns.c.agent,
    _turns.c.identity,
    _turns.c.engine,
    _turns.c.model,
    _turns.c.role,
    _turns.c.persona,
    _turns.c.status,
    _turns.c.prompt,
    _turns.c.created,
    _turns.c.started,
    _turns.c.ended,
    _turns.c.pack,
    _turns.c.answer,
    _turns.c.fresh,
    _turns.c.cache_read,
    _turns.c.cache_write,
    _turns.c.output,
    _turns.c.cost,
    _turns.c.failure,
    _turns.c.message,
    _turns.c.process,
    _turns.c.options,
)
_GET = _SELECT.where(_turns.c.id == bindparam("key"))
_UNFINISHED = _SELECT.where(text("status IN ('queued', 'running')")).order_by(_turns.c.id)
_FIND = PREFIX.of(_SELECT, _turns.c.id)
_LIST = NEWEST.of(_SELECT, _turns.c.id)
_LIST_CONVERSATION = _LIST.where(_turns.c.conversation == bindparam("in_conversation"))
_INSERT = insert(_turns)
_USAGE = ("fresh", "cache_read", "cache_write", "output", "cost")
_MOVED = (
    "status",
    "started",
    "ended",
    "pack",
    "answer",
    "fresh",
    "cache_read",
    "cache_write",
    "output",
    "cost",
    "failure",
    "message",
    "process",
)
_MOVE = (
    update(_turns)
    .where(_turns.c.id == bindparam("key"))
    .values({name: bindparam(f"new_{name}") for name in _MOVED})
)


class Turns:
    """Jobs, from acceptance to end."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, turn: Turn) -> Turn:
        self._scope.change(_INSERT, _to_row(turn))
        return turn

    def get(self, id: TurnId) -> Turn | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else _turn(found)

    def move(
        self,
        id: TurnId,
        to: Status,
        *,
        pack: PackId | None = None,
        answer: MessageId | None = None,
        usage: Usage | None = None,
        failure: str | None = None,
        message: str | None = None,
        process: str | None = None,
    ) -> Turn:
        now = self._scope.now
        old = self.get(id)
        if old is None:
            raise base.NotFound(f"There is no turn {id}.")
        if not turn.may_move(old.status, to):
            raise base.Conflict(
                f"Turn {id} is {old.status.value}; it cannot become {to.value}.",
                current=old.status.value,
            )
        given: dict[str, Any] = {
            "pack": pack,
            "answer": answer,
            "usage": usage,
            "failure": None if failure is None else turn.Failure(failure),
            "message": message,
            "process": process,
            "started": now if to is Status.RUNNING else None,
            "ended": now if to in turn.FINAL else None,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        new = replace(old, status=to, **changes)
        row = _to_row(new)
        self._scope.change(_MOVE, {"key": id, **{f"new_{name}": row[name] for name in _MOVED}})
        return new

    def unfinished(self) -> Sequence[Turn]:
        return [_turn(row) for row in self._scope.rows(_UNFINISHED)]

    def list(
        self, *, conversation: ConversationId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[Turn]:
        params = NEWEST.params(before, limit)
        if conversation is None:
            rows = self._scope.rows(_LIST, params)
        else:
            rows = self._scope.rows(_LIST_CONVERSATION, {**params, "in_conversation": conversation})
        return [_turn(row) for row in rows]

    def find(self, prefix: str) -> Sequence[Turn]:
        return [_turn(row) for row in self._scope.rows(_FIND, PREFIX.params(prefix, FIRST))]


def _to_row(turn: Turn) -> dict[str, Any]:
    row = asdict(turn)
    usage = row.pop("usage")
    failure = None if turn.failure is None else turn.failure.value
    return {**row, **usage, "status": turn.status.value, "failure": failure}


def _turn(row: Record) -> Turn:
    fields = row._asdict()
    usage = Usage(*(fields.pop(name) for name in _USAGE))
    failure = fields.pop("failure")
    return Turn(
        **{**fields, "status": Status(fields["status"])},
        usage=usage,
        failure=None if failure is None else turn.Failure(failure),
    )
