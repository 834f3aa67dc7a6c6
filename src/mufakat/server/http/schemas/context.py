"""The shapes of what an agent is told: digests, the stop gate, and the whole state at once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mufakat.server.http.schemas.agents import Agent
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.leases import Lease
from mufakat.server.http.schemas.mail import Notice, Numbers
from mufakat.server.http.schemas.requests import Body, MaybeId, Plain, Query, Whole


class ContextQuery(Query):
    """How much news, and of what."""

    budget: Annotated[int, Field(ge=0, le=100_000), Plain] = 8000
    """Characters."""
    since: Annotated[str, Field(max_length=128)] = ""
    """`id` of an event: only what came after it."""
    thread: MaybeId = ""


class Accepted(Body):
    """The members of a digest that was put before an engine, given back."""

    shown: Numbers = Field(default_factory=list)
    begun: Numbers = Field(default_factory=list)
    cursors: Annotated[dict[Annotated[str, Field(max_length=64)], Whole], Field(max_length=200)] = (
        Field(default_factory=dict)
    )
    revision: Whole = 0


class Digest(Answer):
    """News as one text, empty where there is none, and what it shows."""

    text: str
    shown: list[int]
    """Numbers of the inbox that are in it whole."""
    begun: list[int]
    """Numbers of which it tells the beginning; they stay unread."""
    cursors: dict[str, int]
    """Up to which message each conversation was told."""
    revision: int
    """What a later digest is new since."""
    left_out: int


class Stop(Body):
    """An agent is about to end its turn."""

    session: Annotated[str, Field(min_length=1, max_length=200)]
    turn: Annotated[str, Field(max_length=200)] = ""
    """The engine's turn id, where it has one."""
    prompt: Annotated[str, Field(max_length=1_000_000)] = ""
    """Tells turns apart where there is no id."""
    background: bool = False
    """Work still runs in the background."""


class Decision(Answer):
    """Whether it may; a block's reason carries the messages."""

    decision: Literal["allow", "block"]
    reason: str
    shown: list[int]
    debt: int
    """Messages that stay unread."""
    gave_up: bool
    why: str


class Skipped(Body):
    """Stops that went by without asking, since no answer came."""

    count: Annotated[int, Field(ge=1, le=1_000_000)]


class Snapshot(Answer):
    """Everybody's state, leases and notices at one revision."""

    epoch: str
    revision: int
    head: str
    """Cursor to go on from."""
    agents: list[Agent]
    leases: list[Lease]
    notices: list[Notice]
