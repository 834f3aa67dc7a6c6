"""Queries about projects."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, insert, select

from mufakat.core.base import ProjectId
from mufakat.core.talk.conversation import Project
from mufakat.storage import tables
from mufakat.storage.scope import Record, Scope

_projects = tables.projects
_SELECT = select(_projects.c.id, _projects.c.name, _projects.c.path, _projects.c.created)
_GET = _SELECT.where(_projects.c.id == bindparam("key"))
_BY_PATH = _SELECT.where(_projects.c.path == bindparam("key"))
_LIST = _SELECT.order_by(_projects.c.id)
_INSERT = insert(_projects)


class Projects:
    """Folders that agents work on."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def ensure(self, path: str, name: str, *, id: ProjectId) -> Project:
        found = self._scope.row(_BY_PATH, {"key": path})
        if found is not None:
            return _project(found)
        project = Project(id, name, path, self._scope.now)
        self._scope.change(
            _INSERT, {"id": id, "name": name, "path": path, "created": project.created}
        )
        return project

    def get(self, id: ProjectId) -> Project | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else _project(found)

    def list(self) -> Sequence[Project]:
        return [_project(row) for row in self._scope.rows(_LIST)]


def _project(row: Record) -> Project:
    return Project(*row)
