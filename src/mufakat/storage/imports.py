"""Queries about sessions of the CLIs that were taken over, so that none is taken over twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, delete, insert, select

from mufakat.core.base import ProjectId
from mufakat.core.knowledge.native_session import Imported
from mufakat.storage import document_tables as tables
from mufakat.storage.scope import Scope

_imports = tables.imports
_c = _imports.c
_OF = (
    select(_c.project, _c.engine, _c.session, _c.conversation, _c.turns, _c.digest, _c.at)
    .where(_c.project == bindparam("in_project"))
    .order_by(_c.engine, _c.session)
)
_DROP = delete(_imports).where(
    _c.project == bindparam("in_project"),
    _c.engine == bindparam("of_engine"),
    _c.session == bindparam("of_session"),
)
_INSERT = insert(_imports)


class Imports:
    """How far each session was taken over."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def of(self, project: ProjectId) -> Sequence[Imported]:
        return [Imported(*row) for row in self._scope.rows(_OF, {"in_project": project})]

    def keep(self, imported: Imported) -> None:
        one = {
            "in_project": imported.project,
            "of_engine": imported.engine,
            "of_session": imported.session,
        }
        self._scope.change(_DROP, one)
        self._scope.change(_INSERT, asdict(imported))
