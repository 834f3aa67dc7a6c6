"""The shapes of the compressed memory of conversations."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Plain, Query


class TopicPage(Query):
    """Topics numbered above `after`, oldest first."""

    after: Annotated[int, Field(ge=0, le=2**53), Plain] = 0
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 50


class Search(Query):
    """Lines that have words of `query`."""

    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 20


class Line(Answer):
    """A statement, and the messages that it comes from."""

    id: str
    """`TOPIC.NUMBER`."""
    speaker: str
    messages: list[str]
    numbers: list[int]
    text: str
    at: str
    author: str
    """`rule`, or the engine that wrote it."""
    supersedes: str
    """Line that it replaces."""
    superseded_by: str
    revoked: str
    """Who took it back."""
    rank: int
    """Place among the lines that packs tell; 0 where it is only searched."""


class Topic(Answer):
    """A part of the conversation under one title."""

    number: int
    title: str
    first: int
    last: int
    created: str
    updated: str
    revoked: str
    lines: list[Line]


class Refreshed(Answer):
    """What was condensed just now."""

    messages: int
    topics: int
    lines: int
    superseded: int
    waits_for: int
    """Messages that are to come before more is condensed."""


class Revoked(Answer):
    """What was taken back, and what holds again because of it."""

    entries: list[str]
    restored: list[str]
