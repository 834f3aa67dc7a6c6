"""The shapes of links between conversations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer, Conversation
from mufakat.server.http.schemas.requests import ID, Body, Flag, Plain, Query


class LinkPage(Query):
    """Whether conversations that are alike are named too."""

    suggest: Flag = "0"


class NewLink(Body):
    """Let those of the conversation read another one."""

    other: Annotated[str, Field(pattern=ID)]
    """Id of the other conversation, or the beginning of one."""


class LinkedPage(Query):
    """Messages above `after`, oldest first."""

    after: Annotated[int, Field(ge=0, le=2**53), Plain] = 0
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 60


class Link(Answer):
    """A link, and the conversation behind it."""

    other: Conversation
    author: str
    at: str
    weight: float
    """1 when it is new, half of it every 30 days in which nothing is said there."""


class Suggestion(Answer):
    """A conversation of the same project that is alike."""

    other: Conversation
    score: float


class Links(Answer):
    """Links of a conversation, the weightiest first."""

    items: list[Link]
    next: None
    suggestions: list[Suggestion]


class Dropped(Answer):
    """The link is gone."""

    dropped: bool
