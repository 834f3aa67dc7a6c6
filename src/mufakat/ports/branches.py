"""The part of the store that knows which conversations are branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from mufakat.core.base import ConversationId, ProjectId
from mufakat.core.talk.branch import Branch


class Branches(Protocol):
    """Which conversations are branches, of what, and how they stand."""

    def get(self, conversation: ConversationId) -> Branch | None: ...
    def of(self, parent: ConversationId) -> Sequence[Branch]:
        """Branches that begin in a conversation, oldest first, deleted ones too."""
        ...

    def every(self, project: ProjectId) -> Mapping[ConversationId, Branch]:
        """All branches of a project, deleted ones too."""
        ...

    def keep(self, branch: Branch) -> None:
        """Store a branch, or how it stands now; where it came from never changes."""
        ...
