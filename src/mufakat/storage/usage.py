"""Queries about what projects make of the sections of their packs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, insert, select, update

from mufakat.core.base import ProjectId
from mufakat.core.pack.tiering import Use
from mufakat.storage import usage_tables as tables
from mufakat.storage.scope import Record, Scope

_usage = tables.usage
_c = _usage.c
_COUNTS = (_c.requests, _c.pushed, _c.used, _c.pulled, _c.pushed_chars, _c.pulled_chars)
_SELECT = select(_c.section, _c.push, *_COUNTS)
_OF = _SELECT.where(_c.project == bindparam("of")).order_by(_c.section)
_ONE = (_c.project == bindparam("of"), _c.section == bindparam("kind"))
_GET = _SELECT.where(*_ONE)
_INSERT = insert(_usage)
_KEEP = (
    update(_usage)
    .where(*_ONE)
    .values({column: bindparam(f"to_{column.name}") for column in (_c.push, *_COUNTS)})
)


class Usages:
    """Counts of each project and section."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def of(self, project: ProjectId) -> Sequence[Use]:
        return [_use(row) for row in self._scope.rows(_OF, {"of": project})]

    def get(self, project: ProjectId, section: str) -> Use | None:
        row = self._scope.row(_GET, {"of": project, "kind": section})
        return _use(row) if row is not None else None

    def keep(self, project: ProjectId, use: Use) -> None:
        counts = asdict(use) | {"push": int(use.push)}
        kind = counts.pop("kind")
        moved = {f"to_{name}": count for name, count in counts.items()}
        if not self._scope.change(_KEEP, {"of": project, "kind": kind, **moved}):
            self._scope.change(_INSERT, {"project": project, "section": kind, **counts})


def _use(row: Record) -> Use:
    section, push, *counts = row
    return Use(section, bool(push), *counts)
