"""What a branch inherits: the checkpoint, and what was said before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import ConversationId
from mufakat.core.talk.message import Message

LAST = 8
"""Messages of the parent, the checkpoint counted."""
FARTHER = 3
"""Of every conversation above the parent."""
LESS = 0.5
"""What one farther away is worth beside one nearer."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """A message from above, and how many branches away it was said; 1 for the parent."""

    message: Message
    steps: int
    worth: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a branch came from, as its agents are told it."""

    parent: ConversationId
    title: str
    number: int
    """Of the checkpoint in the parent."""
    said: Sequence[Inherited] = ()
    """Most worthy first: the checkpoint, then back from it, then from the next checkpoint above."""


def room(steps: int) -> int:
    """How many messages are read of a conversation so many branches away."""
    return LAST if steps == 1 else FARTHER


def inherited(messages: Sequence[Message], steps: int) -> list[Inherited]:
    """Messages up to a checkpoint, newest first, each worth less than the one after it."""
    nearest = LESS ** (steps - 1)
    return [Inherited(one, steps, nearest / (1 + place)) for place, one in enumerate(messages)]
