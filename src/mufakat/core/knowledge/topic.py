"""What a topic of the compressed memory is: lines that messages were condensed to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import ConversationId, MessageId, Millis

BY_RULE = "rule"
"""Author of what the extractive compressor wrote: a sentence of the message itself."""
PREFIX = "memory:"


@dataclass(frozen=True, slots=True)
class Source:
    """A message that a line comes from."""

    id: MessageId
    number: int


@dataclass(frozen=True, slots=True)
class Line:
    """One statement; it is never changed, only linked, ranked and revoked."""

    conversation: ConversationId
    topic: int
    number: int
    """Within its topic, from 1."""
    speaker: str
    """Identity of whoever said it."""
    sources: tuple[Source, ...]
    text: str
    """On one line, scrubbed."""
    at: Millis
    """When the first of its messages was said."""
    worth: float
    """Beside other lines; set once."""
    author: str = BY_RULE
    """Who wrote this line: the rule, or the engine that was asked to."""
    supersedes: str = ""
    """Id of the line that this one contradicts."""
    superseded_by: str = ""
    revoked: str = ""
    """Who took it back; empty while it holds."""
    rank: int = 0
    """Place among the lines that are told, from 1; 0 where it is only searched."""

    @property
    def id(self) -> str:
        return f"{self.topic}.{self.number}"

    @property
    def live(self) -> bool:
        """Whether it still holds: neither contradicted later nor taken back."""
        return not self.superseded_by and not self.revoked


@dataclass(frozen=True, slots=True)
class Topic:
    """A part of a conversation under one title."""

    conversation: ConversationId
    number: int
    """Within its conversation, from 1: by it the topic is pulled and revoked."""
    title: str
    first: int
    """Number of the first message that it was made of."""
    last: int
    created: Millis
    updated: Millis
    revoked: str = ""
    lines: tuple[Line, ...] = ()

    @property
    def key(self) -> str:
        """What to pull for all of it."""
        return f"{PREFIX}{self.number}"


def show(lines: Sequence[Line]) -> str:
    """Lines as an agent reads them: who said it in which message; what a line replaces."""
    shown: list[str] = []
    speaker = ""
    for line in lines:
        who = "" if line.speaker == speaker else f"{line.speaker} "
        speaker = line.speaker
        shown.append(f"{who}{cited(line)}: {line.text}{_links(line)}")
    return "\n".join(shown)


def cited(line: Line) -> str:
    """The messages of a line, `m:3,m:5`."""
    return ",".join(f"m:{one.number}" for one in line.sources)


def _links(line: Line) -> str:
    if line.superseded_by:
        return f" [no longer: see {PREFIX}{line.superseded_by}]"
    return f" [replaces {PREFIX}{line.supersedes}]" if line.supersedes else ""
