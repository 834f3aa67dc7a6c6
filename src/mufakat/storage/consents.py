"""Queries about consent to skills; a row that was tampered with would let a stranger's text in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from sqlalchemy import bindparam, delete, insert, select

from mufakat.core.base import ProjectId
from mufakat.core.knowledge.skill import Consent
from mufakat.storage import document_tables as tables
from mufakat.storage import integrity
from mufakat.storage.scope import Record, Scope

_consents = tables.consents
_c = _consents.c
_OF = (
    select(_c.project, _c.name, _c.digest, _c.at, _c.author, _c.seal)
    .where(_c.project == bindparam("in_project"))
    .order_by(_c.name)
)
_DROP = delete(_consents).where(
    _c.project == bindparam("in_project"), _c.name == bindparam("of_name")
)
_INSERT = insert(_consents)


class Consents:
    """The newest consent a skill, project by project."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def of(self, project: ProjectId) -> Sequence[Consent]:
        return [load(row) for row in self._scope.rows(_OF, {"in_project": project})]

    def keep(self, consent: Consent) -> None:
        self.drop(consent.project, consent.name)
        fields = astuple(consent)
        row = dict(zip(("project", "name", "digest", "at", "author"), fields, strict=True))
        self._scope.change(_INSERT, {**row, "seal": integrity.seal(fields)})

    def drop(self, project: ProjectId, name: str) -> bool:
        return bool(self._scope.change(_DROP, {"in_project": project, "of_name": name}))


def load(row: Record) -> Consent:
    """Build a consent of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A consent to a skill")
    return Consent(*fields)
