"""Queries about decisions; each is sealed, since later packs are built on its words."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update

from mufakat.core.base import ConversationId, ProjectId, RoundtableId
from mufakat.core.deliberation.decision import Decision, Objection, Standing
from mufakat.core.deliberation.merging import Outcome
from mufakat.storage import integrity
from mufakat.storage import roundtable_tables as tables
from mufakat.storage.scope import Record, Scope

_decisions = tables.decisions
_c = _decisions.c
_FIELDS = (
    *(_c.project, _c.number, _c.conversation, _c.roundtable, _c.claim, _c.text, _c.outcome),
    *(_c.agree, _c.against, _c.created, _c.updated, _c.standing, _c.reason),
)
_SELECT = select(*_FIELDS, _c.seal)
_ONE = (_c.project == bindparam("of"), _c.number == bindparam("at"))
_GET = _SELECT.where(*_ONE)
_NEWEST = select(func.max(_c.number)).where(_c.project == bindparam("of"))
_OF_TABLE = _SELECT.where(_c.roundtable == bindparam("of")).order_by(_c.claim)
_OF_CONVERSATION = (
    _SELECT.where(_c.conversation == bindparam("of"))
    .order_by(_c.number.desc())
    .limit(bindparam("at_most"))
)
_OF_PROJECT = (
    _SELECT.where(_c.project == bindparam("of"))
    .order_by(_c.number.desc())
    .limit(bindparam("at_most"))
)
SCAN = select(_c.key, *_FIELDS, _c.seal).where(_c.key > bindparam("after")).order_by(_c.key)
_INSERT = insert(_decisions)
_MOVING = ("text", "outcome", "agree", "against", "updated", "standing", "reason", "seal")
_KEEP = (
    update(_decisions).where(*_ONE).values({_c[name]: bindparam(f"to_{name}") for name in _MOVING})
)


class Decisions:
    """What roundtables came to."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, decision: Decision) -> Decision:
        newest = self._scope.row(_NEWEST, {"of": decision.project})
        stored = dataclasses.replace(decision, number=1 + ((newest and newest[0]) or 0))
        integrity.text_digest(stored.text + stored.reason, "The decision")
        key = f"{stored.project}/{stored.number:09d}"
        self._scope.change(_INSERT, {"key": key, **_row(stored)})
        return stored

    def get(self, project: ProjectId, number: int) -> Decision | None:
        row = self._scope.row(_GET, {"of": project, "at": number})
        return None if row is None else load(row)

    def keep(self, decision: Decision) -> None:
        integrity.text_digest(decision.text + decision.reason, "The decision")
        row = _row(decision)
        moved = {f"to_{name}": row[name] for name in _MOVING}
        self._scope.change(_KEEP, {"of": decision.project, "at": decision.number, **moved})

    def of_table(self, id: RoundtableId) -> Sequence[Decision]:
        return [load(row) for row in self._scope.rows(_OF_TABLE, {"of": id})]

    def of_conversation(self, id: ConversationId, *, limit: int) -> Sequence[Decision]:
        return self._newest(_OF_CONVERSATION, id, limit)

    def of_project(self, id: ProjectId, *, limit: int) -> Sequence[Decision]:
        return self._newest(_OF_PROJECT, id, limit)

    def _newest(self, statement: Any, of: str, limit: int) -> Sequence[Decision]:
        rows = self._scope.rows(statement, {"of": of, "at_most": limit})
        return [load(row) for row in rows]


def load(row: Record | Sequence[Any]) -> Decision:
    """Build a decision of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A decision")
    project, number, conversation, table, claim, text, outcome, agree, against, *rest = fields
    created, updated, standing, reason = rest
    return Decision(
        project,
        number,
        conversation,
        table,
        claim,
        text,
        Outcome(outcome),
        tuple(json.loads(agree)),
        tuple(
            Objection(one["identity"], Outcome(one["outcome"]), one["why"])
            for one in json.loads(against)
        ),
        created,
        updated,
        Standing(standing),
        reason,
    )


def _row(decision: Decision) -> dict[str, Any]:
    fields = dataclasses.asdict(decision) | {
        "outcome": decision.outcome.value,
        "agree": json.dumps(decision.agree),
        "against": json.dumps([dataclasses.asdict(one) for one in decision.against]),
        "standing": decision.standing.value,
    }
    return {**fields, "seal": integrity.seal(fields[column.name] for column in _FIELDS)}
