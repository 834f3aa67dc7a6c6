"""What services need of roundtables in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mufakat.core.base import ConversationId, ProjectId, RoundtableId
from mufakat.core.deliberation.decision import Decision
from mufakat.core.deliberation.round import Word
from mufakat.core.deliberation.roundtable import Roundtable


class Roundtables(Protocol):
    """Tables with their seats, and what was said at them."""

    def add(self, table: Roundtable) -> Roundtable: ...
    def get(self, id: RoundtableId) -> Roundtable | None: ...
    def keep(self, table: Roundtable) -> None:
        """Store how a table and its seats stand now; where it came from never changes."""
        ...

    def list(
        self, *, conversation: ConversationId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[Roundtable]:
        """Newest first (by id, descending)."""
        ...

    def find(self, prefix: str) -> Sequence[Roundtable]:
        """Tables whose id starts with `prefix`, at most ten."""
        ...

    def running(self) -> Sequence[Roundtable]: ...
    def words(self, id: RoundtableId) -> Sequence[Word]:
        """All that was asked and said, by round and seat."""
        ...

    def word(self, id: RoundtableId, round: int, seat: str) -> Word | None: ...
    def keep_word(self, word: Word) -> None:
        """Store what a seat said in a round, in the place of what was known."""
        ...


class Decisions(Protocol):
    """What tables came to; numbers are gapless per project and given out here."""

    def add(self, decision: Decision) -> Decision:
        """Store a decision under the next number of its project."""
        ...

    def get(self, project: ProjectId, number: int) -> Decision | None: ...
    def keep(self, decision: Decision) -> None:
        """Store how a decision stands now."""
        ...

    def of_table(self, id: RoundtableId) -> Sequence[Decision]:
        """What one table came to, by claim."""
        ...

    def of_conversation(self, id: ConversationId, *, limit: int) -> Sequence[Decision]:
        """Newest first."""
        ...

    def of_project(self, id: ProjectId, *, limit: int) -> Sequence[Decision]:
        """Newest first."""
        ...
