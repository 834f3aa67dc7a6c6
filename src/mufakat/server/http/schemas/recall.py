"""The shapes of finding again what was said."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import MaybeId, Plain, Query


class Recall(Query):
    """What to look for, and where."""

    q: Annotated[str, Field(min_length=1, max_length=4_000)]
    """A question or words; nothing in it is a command or a pattern."""
    project: MaybeId = ""
    conversation: MaybeId = ""
    """Only in this one."""
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 10
    """Turns that answer; those beside them come on top."""
    chars: Annotated[int, Field(ge=1, le=200_000), Plain] = 8_000
    """Of all answers together."""


class Passage(Answer):
    """Turns of one conversation that follow each other; the best of them names the answer."""

    id: str
    head: str
    """Who, when, which messages, and the conversation's title."""
    text: str
    author: str
    key: str
    """What to pull for the best turn in full."""
    worth: float
    """Beside the other answers, 0 to 1."""
    why: str
    """Terms that were found in the best turn or beside it."""


class Recalled(Answer):
    """What was found, best first."""

    items: list[Passage]
    next: None
    why: str
    """Why there is nothing, or not all; else empty."""
