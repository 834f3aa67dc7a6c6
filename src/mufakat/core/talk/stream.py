"""What an engine reports while it works, in one vocabulary for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mufakat.core.talk.usage import Usage


class ToolStatus(StrEnum):
    """Where a tool call stands."""

    RUNNING = "running"
    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The engine named its session; stored at once, so that it survives a crash."""

    session: str
    model: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, in order."""

    text: str
    begins: bool = field(default=False, compare=False, repr=False)
    """Whether another message of the agent begins here."""


@dataclass(frozen=True, slots=True)
class TextReset:
    """What was streamed so far is void: the engine began its answer again."""

    why: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of visible reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call began or ended; `id` ties both together."""

    id: str
    name: str
    status: ToolStatus
    input: str = ""
    """One line: the command, path or arguments."""
    output: str = ""


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """The agent wants to do something that its role does not allow by itself."""

    id: str
    request: str
    granted: bool | None = None


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """Tokens so far in this turn."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Compacted:
    """The engine shortened its own memory: what its session was told may be lost to it."""

    before: int = 0
    """Tokens in its window; 0 where the engine does not say."""
    after: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know: a retry, a warning."""

    text: str
    level: str = "info"


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event this version has no word for; kept, counted and shown, never fatal."""

    type: str
    raw: Mapping[str, Any] = field(default_factory=dict)


StreamEvent = (
    SessionStarted
    | Text
    | TextReset
    | Thought
    | Tool
    | PermissionAsked
    | UsageSeen
    | Compacted
    | Notice
    | Unknown
)
