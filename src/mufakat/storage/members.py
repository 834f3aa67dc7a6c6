"""Queries about who follows which thread, and how far each has been told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, delete, insert, select, update

from mufakat.core.base import ConversationId
from mufakat.ports.coordination import Member
from mufakat.storage import coordination_tables as tables
from mufakat.storage.scope import Scope

_members = tables.members
_c = _members.c
_SELECT = select(_c.conversation, _c.identity, _c.cursor)
_ONE = (_c.conversation == bindparam("in_conversation"), _c.identity == bindparam("who"))
_GET = _SELECT.where(*_ONE)
_THREADS = _SELECT.where(_c.identity == bindparam("who")).order_by(_c.conversation)
_OF = _SELECT.where(_c.conversation == bindparam("in_conversation")).order_by(_c.identity)
_INSERT = insert(_members)
_LEAVE = delete(_members).where(*_ONE)
_TOLD = update(_members).where(*_ONE, _c.cursor < bindparam("to")).values(cursor=bindparam("to"))


class Members:
    """Who follows which thread."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def join(self, member: Member) -> bool:
        one = {"in_conversation": member.conversation, "who": member.identity}
        if self._scope.row(_GET, one) is not None:
            return False
        self._scope.change(_INSERT, asdict(member))
        return True

    def leave(self, conversation: ConversationId, identity: str) -> None:
        self._scope.change(_LEAVE, {"in_conversation": conversation, "who": identity})

    def threads(self, identity: str) -> Sequence[Member]:
        return [Member(*row) for row in self._scope.rows(_THREADS, {"who": identity})]

    def of(self, conversation: ConversationId) -> Sequence[Member]:
        rows = self._scope.rows(_OF, {"in_conversation": conversation})
        return [Member(*row) for row in rows]

    def told(self, conversation: ConversationId, identity: str, *, cursor: int) -> None:
        one = {"in_conversation": conversation, "who": identity}
        self._scope.change(_TOLD, {**one, "to": cursor})
