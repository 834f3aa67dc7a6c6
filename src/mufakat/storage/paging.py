"""Shapes of list: newest first by id, what starts with a prefix, and some known keys at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam

Rows = Select[*tuple[Any, ...]]
LAST = "\U0010ffff"
"""Sorts after every id."""
_PLACES = tuple(f"key_{at}" for at in range(1_000))
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


@dataclass(frozen=True, slots=True)
class Keys:
    """Records of several keys; a fixed number of places, so that the statement stays the same."""

    places: int = 16

    def of(self, statement: Rows, key: ColumnElement[str]) -> Rows:
        """Reduce `statement` to those of as many keys as there are places."""
        return statement.where(key.in_([bindparam(name) for name in _PLACES[: self.places]]))

    def params(self, keys: Sequence[str | int]) -> Iterator[dict[str, Any]]:
        """Parameters of every execution that it takes; a place that is left repeats a key."""
        for start in range(0, len(keys), self.places):
            some = keys[start : start + self.places]
            full = [*some, *([some[-1]] * (self.places - len(some)))]
            yield dict(zip(_PLACES, full, strict=False))


NEWEST = Newest()
PREFIX = Prefix()
KEYS = Keys()
