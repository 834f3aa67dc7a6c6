"""Queries about notes on documents; each is sealed, since agents act on its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, insert, select

from mufakat.core.base import ProjectId
from mufakat.core.knowledge.document import Note
from mufakat.storage import document_tables as tables
from mufakat.storage import integrity
from mufakat.storage.scope import Record, Scope

_notes = tables.notes
_c = _notes.c
_SELECT = select(_c.id, _c.project, _c.document, _c.author, _c.at, _c.text, _c.seal)
_OF = (
    _SELECT.where(_c.project == bindparam("in_project"), _c.document == bindparam("of_document"))
    .order_by(_c.id.desc())
    .limit(bindparam("at_most"))
)
SCAN = _SELECT.where(_c.id > bindparam("after")).order_by(_c.id)
_INSERT = insert(_notes)


class Notes:
    """What was noted on documents, project by project."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, note: Note) -> None:
        integrity.text_digest(note.text + note.document, "The note")
        row = asdict(note)
        self._scope.change(_INSERT, {**row, "seal": integrity.seal(row.values())})

    def of(self, project: ProjectId, document: str, *, limit: int) -> Sequence[Note]:
        wanted = {"in_project": project, "of_document": document, "at_most": limit}
        return [load(row) for row in self._scope.rows(_OF, wanted)]


def load(row: Record) -> Note:
    """Build a note of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A note on a document")
    return Note(*fields)
