"""Queries about conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, insert, select, update

from mufakat.core import base
from mufakat.core.base import ConversationId, ProjectId
from mufakat.core.talk.conversation import Conversation
from mufakat.storage import branches, integrity, tables
from mufakat.storage.paging import FIRST, NEWEST, PREFIX
from mufakat.storage.scope import Scope

_conversations = tables.conversations
_SELECT = select(
    _conversations.c.id,
    _conversations.c.project,
    _conversations.c.title,
    _conversations.c.fence,
    _conversations.c.created,
    _conversations.c.updated,
    _conversations.c.messages,
    _conversations.c.talk,
    _conversations.c.chars,
    _conversations.c.window_start,
)
_GET = _SELECT.where(_conversations.c.id == bindparam("key"))
_FIND = PREFIX.of(
    _SELECT.where(branches.shown(_conversations.c.id, archived=True)), _conversations.c.id
)
_LIST = NEWEST.of(
    _SELECT.where(branches.shown(_conversations.c.id, archived=False)), _conversations.c.id
)
_LIST_PROJECT = _LIST.where(_conversations.c.project == bindparam("project"))
_INSERT = insert(_conversations)
_WINDOW = (
    update(_conversations)
    .where(_conversations.c.id == bindparam("key"))
    .values(window_start=bindparam("start"))
)
_RENAME = (
    update(_conversations)
    .where(_conversations.c.id == bindparam("key"))
    .values(title=bindparam("to_title"))
)


class Conversations:
    """Threads and their counters."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, conversation: Conversation) -> Conversation:
        self._scope.change(_INSERT, asdict(conversation))
        return conversation

    def get(self, id: ConversationId) -> Conversation | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else Conversation(*found)

    def list(
        self, *, project: ProjectId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[Conversation]:
        params = NEWEST.params(before, limit)
        if project is None:
            rows = self._scope.rows(_LIST, params)
        else:
            rows = self._scope.rows(_LIST_PROJECT, {**params, "project": project})
        return [Conversation(*row) for row in rows]

    def find(self, prefix: str) -> Sequence[Conversation]:
        rows = self._scope.rows(_FIND, PREFIX.params(prefix, FIRST))
        return [Conversation(*row) for row in rows]

    def hold_window(self, id: ConversationId, start: int) -> None:
        if not self._scope.change(_WINDOW, {"key": id, "start": start}):
            raise base.NotFound(f"There is no conversation {id}.")

    def rename(self, id: ConversationId, title: str) -> None:
        integrity.text_digest(title, "The title")
        if not self._scope.change(_RENAME, {"key": id, "to_title": title}):
            raise base.NotFound(f"There is no conversation {id}.")
