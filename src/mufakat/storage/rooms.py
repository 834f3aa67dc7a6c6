"""Queries about the thread of a project where messages go that name none."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

from mufakat.core.base import ConversationId, ProjectId
from mufakat.storage import coordination_tables as tables
from mufakat.storage.scope import Scope

_rooms = tables.rooms
_OF_PROJECT = _rooms.c.project == bindparam("of_project")
_GET = select(_rooms.c.conversation).where(_OF_PROJECT)
_INSERT = insert(_rooms)
_UPDATE = update(_rooms).where(_OF_PROJECT).values(conversation=bindparam("new_conversation"))


class Rooms:
    """One thread a project."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, project: ProjectId) -> ConversationId | None:
        found = self._scope.row(_GET, {"of_project": project})
        return None if found is None else ConversationId(found[0])

    def keep(self, project: ProjectId, conversation: ConversationId) -> None:
        changed = {"of_project": project, "new_conversation": conversation}
        if not self._scope.change(_UPDATE, changed):
            self._scope.change(_INSERT, {"project": project, "conversation": conversation})
