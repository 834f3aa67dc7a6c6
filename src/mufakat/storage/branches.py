"""Queries about branches; a row that was tampered with would tell one what another never said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, bindparam, insert, literal, or_, select, update

from mufakat.core.base import ConversationId, ProjectId
from mufakat.core.talk.branch import Branch, Status
from mufakat.storage import branch_tables as tables
from mufakat.storage import integrity
from mufakat.storage.scope import Record, Scope

_branches = tables.branches
_c = _branches.c
_SELECT = select(
    _c.conversation, _c.parent, _c.checkpoint, _c.number, _c.depth, _c.project, _c.author,
    _c.created, _c.changed, _c.status, _c.summary, _c.summary_number, _c.seal,
)  # fmt: skip
_GET = _SELECT.where(_c.conversation == bindparam("of_conversation"))
_OF = _SELECT.where(_c.parent == bindparam("of_parent")).order_by(_c.conversation)
_IN = _SELECT.where(_c.project == bindparam("in_project")).order_by(_c.conversation)
SCAN = _SELECT.where(_c.conversation > bindparam("after")).order_by(_c.conversation)
_INSERT = insert(_branches)
_MOVE = (
    update(_branches)
    .where(_c.conversation == bindparam("of_conversation"))
    .values(
        changed=bindparam("to_changed"),
        status=bindparam("to_status"),
        summary=bindparam("to_summary"),
        summary_number=bindparam("to_number"),
        seal=bindparam("to_seal"),
    )
)


def shown(conversation: ColumnElement[str], *, archived: bool) -> ColumnElement[bool]:
    """Whether a conversation may be listed: no deleted branch, and archived ones where wanted."""
    left_out = [Status.DELETED] if archived else [Status.DELETED, Status.ARCHIVED]
    away = or_(*(_c.status == literal(status.value) for status in left_out))
    hidden = select(_c.conversation).where(_c.conversation == conversation, away)
    return ~hidden.exists()


class Branches:
    """Which conversations are branches, of what, and how they stand."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, conversation: ConversationId) -> Branch | None:
        row = self._scope.row(_GET, {"of_conversation": conversation})
        return None if row is None else load(row)

    def of(self, parent: ConversationId) -> Sequence[Branch]:
        return [load(row) for row in self._scope.rows(_OF, {"of_parent": parent})]

    def every(self, project: ProjectId) -> Mapping[ConversationId, Branch]:
        found = [load(row) for row in self._scope.rows(_IN, {"in_project": project})]
        return {one.conversation: one for one in found}

    def keep(self, branch: Branch) -> None:
        fields = {**asdict(branch), "status": branch.status.value}
        row = {one.name: fields[one.name] for one in _c if one is not _c.seal}
        seal = integrity.seal(row.values())
        changed: dict[str, Any] = {
            "of_conversation": branch.conversation,
            "to_changed": branch.changed,
            "to_status": branch.status.value,
            "to_summary": branch.summary,
            "to_number": branch.summary_number,
            "to_seal": seal,
        }
        if not self._scope.change(_MOVE, changed):
            self._scope.change(_INSERT, {**row, "seal": seal})


def load(row: Record) -> Branch:
    """Build a branch of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A branch")
    (conversation, parent, checkpoint, number, depth, project, author, *moves) = fields
    created, changed, status, summary, summary_number = moves
    return Branch(
        conversation,
        parent,
        checkpoint,
        number,
        depth,
        project,
        author,
        created,
        changed,
        Status(status),
        summary,
        summary_number,
    )
