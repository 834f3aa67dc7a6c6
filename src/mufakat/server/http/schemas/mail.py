"""The shapes of messages between agents, of their inboxes, and of notices."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.core.coordination.inbox import Intent
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import (
    Body,
    Flag,
    MaybeId,
    Name,
    Path,
    Plain,
    Query,
)

Days = Annotated[float, Field(gt=0, le=30 * 86_400, allow_inf_nan=False)]
"""Seconds, up to 30 days."""
Wait = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]
"""Seconds."""
Numbers = Annotated[
    list[Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": 2**53})]],
    Field(max_length=1000),
]


class Sending(Body):
    """A message to agents, roles or topics, or into a conversation."""

    to: Annotated[list[Name], Field(max_length=64)] = Field(default_factory=list)
    """Identities, unique prefixes, aliases, `role:…` or `topic:…`."""
    thread: MaybeId = ""
    """Conversation that it belongs to; empty takes the project's room."""
    intent: Annotated[Intent, Field(strict=False)] = Intent.INFORM
    body: str
    refs: Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=32)] = Field(
        default_factory=list
    )
    reply_to: MaybeId = ""
    """Message that it answers."""
    deadline: Days | None = None
    """Seconds after which the sender is told that it was not answered."""
    ttl: Days | None = None
    """Seconds after which it expires unread."""
    priority: Annotated[int, Field(ge=0, le=3)] = 1
    """3 is urgent."""
    steer: bool = False
    """For the middle of a turn; else it waits for the next chance."""
    hold: bool = False
    """Keep it for recipients that have not joined yet."""
    project: Path = ""


class InboxPage(Query):
    """Which messages of the inbox; reading changes nothing."""

    after: Annotated[int, Field(ge=0, le=2**53), Plain] = 0
    open: Flag = "1"
    """`0` shows those too that are done with."""
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 50


class OwnInboxPage(InboxPage):
    """Which messages of one's own inbox; reading changes nothing."""

    due: Flag = "0"
    """`1` shows only those that are new, or that still need an answer."""


class Claim(Body):
    """Take messages to work on; they are offered to others again when they are not shown."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    wait: Wait = 0


class Shown(Body):
    """Messages that the agent was given."""

    numbers: Numbers


class Ack(Body):
    """Messages that are done with: all `upto` a number, or single ones."""

    upto: Annotated[int, Field(json_schema_extra={"minimum": 0, "maximum": 2**53})] | None = None
    numbers: Numbers = Field(default_factory=list)
    decline: Annotated[str, Field(max_length=2000)] = ""
    """Why they will not be done; empty where they are."""


class Redelivery(Body):
    """A dead letter that is to be delivered again."""

    message: Annotated[str, Field(min_length=1, max_length=64)]
    recipient: Annotated[str, Field(min_length=1, max_length=200)]


class NewNotice(Body):
    """A shared fact that expires by itself."""

    text: Annotated[str, Field(min_length=1, max_length=2000)]
    ttl: Annotated[float, Field(ge=5, le=30 * 86_400, allow_inf_nan=False)]
    """Seconds."""
    project: MaybeId = ""
    """Id of a project; empty takes the caller's own."""


class OfProject(Query):
    """Of which project; empty takes the caller's own."""

    project: MaybeId = ""


class Sent(Answer):
    """What became of a message."""

    message: str
    conversation: str
    number: int
    """In the conversation."""
    recipients: list[str]
    offline: list[str]
    """Recipients that are not there just now."""
    held: list[str]
    """Names that nobody has yet."""
    duplicate: bool
    """It had been sent before, under the same key."""


class Letter(Answer):
    """A message in an inbox."""

    message: str
    conversation: str
    recipient: str
    number: int
    """Gapless in the inbox; 0 while it is held."""
    sender: str
    to: list[str]
    intent: str
    priority: int
    requires_ack: bool
    status: str
    sent: str
    deadline: str | None
    expires: str | None
    reply_to: str | None
    refs: list[str]
    steer: bool
    hops: int
    at: str
    """Of the last change."""
    offered_until: str | None
    times: int
    """How often it was shown."""
    note: str
    text: str
    chars: int


class Counted(Answer):
    """How many were taken note of."""

    count: int


class Acked(Answer):
    """Up to where everything is done with."""

    acked: int


class Notice(Answer):
    """A shared fact."""

    project: str
    key: str
    text: str
    author: str
    at: str
    expires: str


class Dropped(Answer):
    """Whether there was such a notice."""

    dropped: bool
