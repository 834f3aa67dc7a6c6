"""Two shapes of list: newest first by id, and everything that starts with a prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam

Rows = Select[*tuple[Any, ...]]
LAST = "\U0010ffff"
"""Sorts after every id."""
FIRST = 10
"""How many records a prefix may answer."""


@dataclass(frozen=True, slots=True)
class Newest:
    """Ids below a cursor, in falling order."""

    def of(self, statement: Rows, id: ColumnElement[str]) -> Rows:
        """Page `statement` by `id`."""
        return (
            statement.where(id < bindparam("before")).order_by(id.desc()).limit(bindparam("limit"))
        )

    def params(self, before: str, limit: int) -> dict[str, Any]:
        return {"before": before or LAST, "limit": limit}


@dataclass(frozen=True, slots=True)
class Prefix:
    """Ids that start with a text, as a range that an index serves."""

    def of(self, statement: Rows, id: ColumnElement[str]) -> Rows:
        """Reduce `statement` to ids with a prefix."""
        return (
            statement.where(id >= bindparam("low"), id < bindparam("high"))
            .order_by(id)
            .limit(bindparam("limit"))
        )

    def params(self, prefix: str, limit: int) -> dict[str, Any]:
        return {"low": prefix, "high": prefix + LAST, "limit": limit}


NEWEST = Newest()
PREFIX = Prefix()
