"""Queries about links; a row that was tampered with would open another project's conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, delete, insert, select

from mufakat.core.base import ConversationId
from mufakat.core.knowledge.link import Link
from mufakat.storage import branches, integrity
from mufakat.storage import document_tables as tables
from mufakat.storage.scope import Record, Scope

_links = tables.links
_c = _links.c
_SELECT = select(_c.conversation, _c.other, _c.author, _c.at, _c.seal).where(
    branches.shown(_c.other, archived=True)
)
_FROM = _c.conversation == bindparam("of_conversation")
_ONE = (_FROM, _c.other == bindparam("to_other"))
_OF = _SELECT.where(_FROM).order_by(_c.other)
_GET = _SELECT.where(*_ONE)
_INSERT = insert(_links)
_DROP = delete(_links).where(*_ONE)


class Links:
    """Which conversations may be read from which."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, conversation: ConversationId, other: ConversationId) -> Link | None:
        row = self._scope.row(_GET, {"of_conversation": conversation, "to_other": other})
        return None if row is None else load(row)

    def of(self, conversation: ConversationId) -> Sequence[Link]:
        return [load(row) for row in self._scope.rows(_OF, {"of_conversation": conversation})]

    def keep(self, link: Link) -> None:
        self.drop(link.conversation, link.other)
        row = asdict(link)
        self._scope.change(_INSERT, {**row, "seal": integrity.seal(row.values())})

    def drop(self, conversation: ConversationId, other: ConversationId) -> bool:
        one = {"of_conversation": conversation, "to_other": other}
        return bool(self._scope.change(_DROP, one))


def load(row: Record) -> Link:
    """Build a link of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A link between conversations")
    return Link(*fields)
