"""The shapes of the graph: places of symbols, and files that a change may touch."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import MaybeId, Plain, Query


class SymbolQuery(Query):
    """A name, `Class.method` or a path."""

    symbol: Annotated[str, Field(min_length=1, max_length=500)]
    project: MaybeId = ""
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 50


class BlastQuery(Query):
    """The files that change, relative to the project's folder; repeat `path` for each."""

    path: Annotated[list[str], Field(min_length=1, max_length=50)]
    project: MaybeId = ""
    limit: Annotated[int, Field(ge=1, le=100), Plain] = 10


class Node(Answer):
    """A place in the project."""

    path: str
    line: int
    symbol: str
    """Scope that it lies in, or what is defined or imported there."""
    text: str
    """Its line, scrubbed."""


class Reach(Answer):
    """A file that the change may touch."""

    path: str
    score: float
    why: str
