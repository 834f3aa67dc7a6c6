"""Which turns of an index may be found, as conversations and branches limit them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mufakat.core.knowledge import posting
from mufakat.core.knowledge.indexing import IndexedTurn


@dataclass(frozen=True, slots=True)
class Among:
    """The conversations to look in, by their numbers in the index."""

    only: frozenset[int] | None
    """None takes all of the project."""
    limits: Mapping[int, int]
    """The last message of some that may be found; 0 for none."""

    def __contains__(self, ordinal: object) -> bool:
        if self.only is not None and ordinal not in self.only:
            return False
        return not isinstance(ordinal, int) or self.limits.get(ordinal, 1) > 0

    def finds(self, turn: int, one: IndexedTurn) -> bool:
        """Whether a turn of such a conversation may be found."""
        return one.number <= self.limits.get(posting.ordinal_of(turn), one.number)
