"""Queries about roundtables: a table with its seats, and what each said in each round."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Table, bindparam, insert, select, text, update

from mufakat.core.base import ConversationId, MessageId, RoundtableId, TurnId
from mufakat.core.deliberation import position, roundtable, seat
from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.round import Standing, Word
from mufakat.core.deliberation.roundtable import Order, Remark, Roundtable
from mufakat.core.deliberation.seat import Seat
from mufakat.storage import paging
from mufakat.storage import roundtable_tables as tables
from mufakat.storage.scope import Record, Scope

_tables, _seats, _words = tables.roundtables, tables.roundtable_seats, tables.positions
_t, _s, _w = _tables.c, _seats.c, _words.c
_SELECT = select(_tables)
_GET = _SELECT.where(_t.id == bindparam("one"))
_LIST = paging.NEWEST.of(_SELECT, _t.id)
_LIST_OF = paging.NEWEST.of(_SELECT.where(_t.conversation == bindparam("of")), _t.id)
_FIND = paging.PREFIX.of(_SELECT, _t.id)
_RUNNING = _SELECT.where(text(tables.LIVE)).order_by(_t.id)
_INSERT = insert(_tables)
_MOVING = ("rounds", "updated", "caps", "remarks", "status", "round", "since", "worked", "why")
_KEEP = (
    update(_tables)
    .where(_t.id == bindparam("one"))
    .values({_t[name]: bindparam(f"to_{name}") for name in _MOVING})
)
_SEATS = select(_seats).where(_s.roundtable == bindparam("at")).order_by(_s.label)
_INSERT_SEAT = insert(_seats)
_KEEP_SEAT = (
    update(_seats)
    .where(_s.roundtable == bindparam("at"), _s.label == bindparam("letter"))
    .values(standing=bindparam("to_standing"), why=bindparam("to_why"))
)
_WORDS = select(_words).where(_w.roundtable == bindparam("at")).order_by(_w.round, _w.seat)
_ONE = (
    _w.roundtable == bindparam("at"),
    _w.round == bindparam("in_round"),
    _w.seat == bindparam("of_seat"),
)
_WORD = select(_words).where(*_ONE)
_INSERT_WORD = insert(_words)
_SAID = (
    *("standing", "turns", "answer", "position", "problem", "seen"),
    *("chars", "tokens", "cost", "heard"),
)
_KEEP_WORD = (
    update(_words).where(*_ONE).values({_w[name]: bindparam(f"to_{name}") for name in _SAID})
)


class Roundtables:
    """Tables, their seats and their words."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, table: Roundtable) -> Roundtable:
        self._scope.change(_INSERT, _row(table))
        for one in table.seats:
            row = asdict(one) | {"roundtable": table.id, "standing": one.standing.value}
            self._scope.change(_INSERT_SEAT, row)
        return table

    def get(self, id: RoundtableId) -> Roundtable | None:
        row = self._scope.row(_GET, {"one": id})
        return None if row is None else self._load(row)

    def keep(self, table: Roundtable) -> None:
        row = _row(table)
        moved = {f"to_{name}": row[name] for name in _MOVING}
        self._scope.change(_KEEP, {"one": table.id, **moved})
        for one in table.seats:
            moved = {"to_standing": one.standing.value, "to_why": one.why}
            self._scope.change(_KEEP_SEAT, {"at": table.id, "letter": one.label, **moved})

    def list(
        self, *, conversation: ConversationId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[Roundtable]:
        params = paging.NEWEST.params(before, limit)
        if conversation is None:
            return self._all(self._scope.rows(_LIST, params))
        return self._all(self._scope.rows(_LIST_OF, params | {"of": conversation}))

    def find(self, prefix: str) -> Sequence[Roundtable]:
        return self._all(self._scope.rows(_FIND, paging.PREFIX.params(prefix, paging.FIRST)))

    def running(self) -> Sequence[Roundtable]:
        return self._all(self._scope.rows(_RUNNING))

    def words(self, id: RoundtableId) -> Sequence[Word]:
        return [_word(row) for row in self._scope.rows(_WORDS, {"at": id})]

    def word(self, id: RoundtableId, round: int, seat: str) -> Word | None:
        row = self._scope.row(_WORD, {"at": id, "in_round": round, "of_seat": seat})
        return None if row is None else _word(row)

    def keep_word(self, word: Word) -> None:
        said = _said(word)
        one = {"at": word.roundtable, "in_round": word.round, "of_seat": word.seat}
        moved = {f"to_{name}": value for name, value in said.items()}
        if not self._scope.change(_KEEP_WORD, one | moved):
            key = {"roundtable": word.roundtable, "round": word.round, "seat": word.seat}
            self._scope.change(_INSERT_WORD, key | said)

    def _all(self, rows: Sequence[Record]) -> Sequence[Roundtable]:
        return [self._load(row) for row in rows]

    def _load(self, row: Record) -> Roundtable:
        fields = _named(_tables, row)
        seats = [_seat(one) for one in self._scope.rows(_SEATS, {"at": fields["id"]})]
        return Roundtable(
            **fields
            | {
                "seats": tuple(seats),
                "order": Order(fields.pop("ordering")),
                "blind": bool(fields["blind"]),
                "anonymous": bool(fields["anonymous"]),
                "caps": Caps(**json.loads(fields["caps"])),
                "remarks": tuple(Remark(**one) for one in json.loads(fields["remarks"])),
                "status": roundtable.Status(fields["status"]),
            }
        )


def _named(table: Table, row: Record) -> dict[str, Any]:
    return dict(zip(table.c.keys(), row, strict=True))


def _row(table: Roundtable) -> dict[str, Any]:
    fields = asdict(table)
    del fields["seats"]
    return fields | {
        "ordering": fields.pop("order").value,
        "blind": int(table.blind),
        "anonymous": int(table.anonymous),
        "caps": json.dumps(fields["caps"]),
        "remarks": json.dumps(fields["remarks"]),
        "status": table.status.value,
    }


def _seat(row: Record) -> Seat:
    fields = _named(_seats, row)
    del fields["roundtable"]
    return Seat(**fields | {"standing": seat.Standing(fields["standing"])})


def _said(word: Word) -> dict[str, Any]:
    said = word.position
    return {
        "standing": word.standing.value,
        "turns": json.dumps(word.turns),
        "answer": word.answer,
        "position": json.dumps(position.to_json(said), ensure_ascii=False) if said else "",
        "problem": word.problem,
        "seen": word.seen,
        "chars": word.chars,
        "tokens": word.tokens,
        "cost": word.cost,
        "heard": word.heard,
    }


def _word(row: Record) -> Word:
    fields = _named(_words, row)
    said, answer = fields["position"], fields["answer"]
    return Word(
        **fields
        | {
            "standing": Standing(fields["standing"]),
            "turns": tuple(TurnId(id) for id in json.loads(fields["turns"])),
            "answer": MessageId(answer) if answer else None,
            "position": position.from_json(json.loads(said)) if said else None,
        }
    )
