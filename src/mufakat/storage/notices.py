"""Queries about shared facts; each is sealed, since agents act on its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, delete, insert, select

from mufakat.core.base import Millis, ProjectId
from mufakat.core.coordination.notice import Notice
from mufakat.storage import coordination_tables as tables
from mufakat.storage import integrity
from mufakat.storage.scope import Record, Scope

_notices = tables.notices
_c = _notices.c
_ONE = (_c.project == bindparam("in_project"), _c.key == bindparam("of_key"))
_LIVE = (
    select(_c.project, _c.key, _c.text, _c.author, _c.at, _c.expires, _c.seal)
    .where(_c.project == bindparam("in_project"), _c.expires > bindparam("now"))
    .order_by(_c.at.desc(), _c.key)
)
_INSERT = insert(_notices)
_DROP = delete(_notices).where(*_ONE)


class Notices:
    """Shared facts, newest per key."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def keep(self, notice: Notice) -> None:
        row = asdict(notice)
        integrity.text_digest(notice.text + notice.key, "The notice")
        self.drop(notice.project, notice.key)
        self._scope.change(_INSERT, {**row, "seal": integrity.seal(row.values())})

    def drop(self, project: ProjectId, key: str) -> bool:
        return bool(self._scope.change(_DROP, {"in_project": project, "of_key": key}))

    def live(self, project: ProjectId, now: Millis) -> Sequence[Notice]:
        rows = self._scope.rows(_LIVE, {"in_project": project, "now": now})
        return [load(row) for row in rows]


def load(row: Record) -> Notice:
    """Build a notice of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A notice")
    return Notice(*fields)
