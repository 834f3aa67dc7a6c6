"""What is said in a conversation: one kind of record for people, agents and their tools."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from mufakat.core import tokens
from mufakat.core.base import ConversationId, MessageId, Millis, TurnId


class Kind(StrEnum):
    """Who or what a message is from."""

    PERSON = "person"
    AGENT = "agent"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


TALK = frozenset({Kind.PERSON, Kind.AGENT})
"""Kinds that count as messages of the conversation; tool traffic does not."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before it is stored, with everything that is computed once."""

    kind: Kind
    speaker: str
    """The identity as text."""
    text: str
    chars: int
    """Length of `text` in code points."""
    tokens: int
    digest: str
    """SHA-256 of `text`, hex."""
    secrets: tuple[str, ...] = ()
    """Kinds of secrets found in it; the text itself is stored as it came."""
    pair: str = ""
    """Ties a tool result to its call."""
    label: str = ""
    """Tool name and command of a tool message, one line."""
    turn: TurnId | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """Who spoke, without the words."""

    id: MessageId
    kind: Kind
    speaker: str


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message; `number` is gapless within its conversation, from 1."""

    id: MessageId
    conversation: ConversationId
    number: int
    at: Millis
    kind: Kind
    speaker: str
    text: str
    chars: int
    tokens: int
    secrets: tuple[str, ...] = ()
    pair: str = ""
    label: str = ""
    turn: TurnId | None = None

    @property
    def whole(self) -> bool:
        """Whether `text` is all of it; packing loads only both ends of a very long one."""
        return len(self.text) == self.chars


def draft(
    kind: Kind,
    speaker: str,
    *,
    text: str,
    secrets: tuple[str, ...] = (),
    pair: str = "",
    label: str = "",
    turn: TurnId | None = None,
) -> Draft:
    """Measure a text once, for good: characters, tokens and digest."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Draft(
        kind, speaker, text, len(text), tokens.estimate(text), digest, secrets, pair, label, turn
    )
