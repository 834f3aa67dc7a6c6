"""The shapes of the code search and of the state of its index."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.ports.knowledge import Way
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, MaybeId, Plain, Query


class CodeSearch(Query):
    """What to look for."""

    q: Annotated[str, Field(min_length=1, max_length=4_000)]
    """Words or a name; nothing in it is a command or a pattern."""
    project: MaybeId = ""
    limit: Annotated[int, Field(ge=1, le=50), Plain] = 10
    chars: Annotated[int, Field(ge=0, le=200_000), Plain] = 20_000
    """Of all texts together; 0 is no limit of its own."""
    way: Way = Way.WORDS
    """`exact` finds the text as it is written, `rawq` asks that program where it is installed.

    `files` finds the files that a described change touches; `chars` is the room of its listing.
    """


class Refresh(Body):
    """How an index is brought up to date."""

    anew: bool = False
    """Throw away what there is and read every file; not for agents."""


class CodeHit(Answer):
    """A piece of code that answers."""

    path: str
    """From the project's folder, with `/`."""
    start: int
    """First line, from 1."""
    end: int
    symbol: str
    """What it lies in, `Class.method`; empty at the top of a file."""
    score: float
    why: str
    text: str
    size: int
    """Characters of the text."""


class CodeHits(Answer):
    """The best pieces, best first."""

    items: list[CodeHit]
    next: None
    why: str
    """Why there are none, or not all; else empty."""
    listing: str
    """For `files`: a tree of the names of many more, best folders first; else empty."""


class LeftOut(Answer):
    """A file or folder that is not indexed, and why."""

    path: str
    why: str


class Index(Answer):
    """How far the index of a project is."""

    files: int
    running: bool
    complete: bool
    """Whether all files were read once: until then a search knows a part of them."""
    done: int
    """Files read of those that this refresh has to read."""
    of: int
    commit: str
    """At which it was last brought up to date; empty outside of git."""
    seconds: float
    """That the last refresh took."""
    changed: int
    """Files that it read anew."""
    skipped: list[LeftOut]
    error: str
    """Why the last refresh failed; else empty."""
