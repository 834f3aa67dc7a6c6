"""What of a message can be found again: its words, where it stands, and who said it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from mufakat.core import quote
from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId
from mufakat.core.knowledge import marks, posting, words
from mufakat.core.talk.message import TALK, Message

WHOLE = 200_000
"""Characters of a message that are looked at; the rest of a longer one is not found."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A conversation of which not every message is indexed yet."""

    conversation: ConversationId
    project: ProjectId
    fence: str
    indexed: int
    """Number of the last message that is."""
    messages: int


@dataclass(frozen=True, slots=True)
class IndexedTurn:
    """What the index knows of a turn beside its terms."""

    message: MessageId
    number: int
    """Of the message in its conversation."""
    at: Millis
    speaker: str
    marks: int
    """See core.knowledge.marks."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as the index keeps it."""

    message: MessageId
    number: int
    at: Millis
    speaker: str
    lane: int
    terms: Mapping[str, int]
    """How often each occurs."""
    length: int
    """Terms in all, every occurrence counted; parts of names aside."""
    marks: int


def turn(message: Message, fence: str) -> Turn:
    """Index one message: of talk its text without what a pack told, of a tool its one line."""
    said = body(message, fence)
    lane = posting.TALK if message.kind in TALK else posting.TOOLS
    terms = Counter(words.terms(said))
    length = sum(count for term, count in terms.items() if not words.is_gram(term))
    return Turn(
        message.id,
        message.number,
        message.at,
        message.speaker,
        lane,
        terms,
        length,
        marks.pack(marks.of_turn(said), length),
    )


def body(message: Message, fence: str) -> str:
    """What of a message is searched: of a tool its one line, of talk nothing that a pack told."""
    if message.kind not in TALK:
        return message.label
    return quote.inert(message.text[:WHOLE], fence).replace(quote.LEFT_OUT, " ")
