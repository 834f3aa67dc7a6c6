"""Bodies and queries that clients send; an unknown field is refused, not ignored."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

ID = r"^[A-Za-z0-9_-]{1,64}$"
MAYBE_ID = r"^[A-Za-z0-9_-]{0,64}$"
NAMES = r"^[a-z0-9_.,-]{0,400}$"
ME = "me"
LONGEST_NAME = 200
WHO = "Identity, unique prefix of one, or alias; `me` is the caller."

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _plain(value: Any) -> Any:
    """Refuse what only Python reads as a number, such as `1_0` or ` 5`."""
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise ValueError("it is not a plain number")
    return value


Plain = BeforeValidator(_plain)
Seconds = Annotated[float, Field(ge=0, le=60, allow_inf_nan=False), Plain]
MaybeId = Annotated[str, Field(pattern=MAYBE_ID)]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Flag = Literal["0", "1"]
Path = Annotated[str, Field(max_length=4096)]
Whole = Annotated[int, Field(ge=0, le=2**53)]


class Body(BaseModel):
    """Types are taken as they are: `"60"` is not a number."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )


class NewProject(Body):
    """A folder to work on."""

    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """Absolute path."""


class NewConversation(Body):
    """A thread in a project."""

    project: Annotated[str, Field(min_length=1, max_length=4096)]
    """Absolute path of the project's folder."""
    title: Annotated[str, Field(max_length=200)] = ""


class NewMessage(Body):
    """What a person says without asking an agent."""

    text: Annotated[str, Field(min_length=1, max_length=1_000_000)]


class NewTurn(Body):
    """A request to an agent; empty fields take their defaults."""

    prompt: str
    project: Annotated[str, Field(min_length=1, max_length=4096)]
    """Absolute path of the project's folder."""
    conversation: MaybeId = ""
    """Id or unique prefix; empty starts a new one."""
    engine: Name = ""
    model: Name = ""
    role: Name = "general"
    persona: Name = ""
    mode: Name = ""
    """`lite`, `standard` or `full`; empty lets the rules choose."""
    budget: Annotated[int, Field(ge=0, le=2_000_000)] = 0
    """Characters; 0 takes the setting."""
    fresh: bool = False
    """Do not resume the engine's session."""
    mute: Annotated[list[Name], Field(max_length=64)] = Field(default_factory=list)
    """Kinds of sections to leave out."""


class Check(Body):
    """How thoroughly the database is looked at."""

    deep: bool = False


class Nothing(Body):
    """No settings."""


class Query(BaseModel):
    """Query parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Page(Query):
    """One page of a list, newest first."""

    before: MaybeId = ""
    """`next` of the page before."""
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 50


class ProjectPage(Page):
    """One page of the conversations of a project."""

    project: MaybeId = ""


class ConversationPage(Page):
    """One page of what belongs to a conversation."""

    conversation: MaybeId = ""


class MessagePage(Query):
    """Messages above `after`, oldest first, or below `before`, newest first."""

    after: Annotated[int, Field(ge=0, le=2**53), Plain] = 0
    before: Annotated[int, Field(ge=0, le=2**53), Plain] = 0
    limit: Annotated[int, Field(ge=1, le=200), Plain] = 60


class Wait(Query):
    """How long to wait for the end of a turn."""

    wait: Seconds = 0


class Events(Query):
    """Which events, from where on."""

    after: Annotated[str, Field(max_length=128)] = ""
    """The `id` of the last event seen; empty begins with the oldest kept."""
    subject: Annotated[str, Field(max_length=512)] = ""
    """Id, identity or resource."""
    conversation: MaybeId = ""
    kinds: Annotated[str, Field(pattern=NAMES)] = ""
    """Kinds of events, separated by commas."""
    limit: Annotated[int, Field(ge=1, le=1000), Plain] = 200
    wait: Seconds = 0
    """Seconds to wait for an event where there is none yet."""
    follow: Literal["", "0", "1"] = ""
    """`1` asks for the stream whatever the Accept header says."""
    presence: Literal["", "0", "1", "false", "true"] = ""
    """`true` asks for the stream, and says that it is the caller's session's connection."""
