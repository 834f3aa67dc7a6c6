"""When the memory of a conversation is due, so that it is not condensed with every message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

FROM = 12
"""Messages of people and agents from which on older ones become topics."""
STEP = 6
"""So many new ones must have come before it is done again."""


def due(fresh: Sequence[T]) -> Sequence[T]:
    """What of the messages that are in no topic yet becomes one now, oldest first.

    The newest ones stay as they are: they are told word for word anyway. As `FROM - STEP` of
    them are left, the next time is not before `STEP` new ones.
    """
    return fresh[: len(fresh) - (FROM - STEP)] if len(fresh) >= FROM else ()
