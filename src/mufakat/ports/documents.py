"""The records of knowledge that people and agents made themselves: consents, notes, links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mufakat.core.base import ConversationId, ProjectId
from mufakat.core.knowledge.document import Note
from mufakat.core.knowledge.link import Link
from mufakat.core.knowledge.native_session import Imported
from mufakat.core.knowledge.skill import Consent


class Consents(Protocol):
    """Which text of each skill a person has let agents have."""

    def of(self, project: ProjectId) -> Sequence[Consent]: ...
    def keep(self, consent: Consent) -> None:
        """Store a consent in the place of an earlier one to the same skill."""
        ...

    def drop(self, project: ProjectId, name: str) -> bool:
        """Take a consent back; answers whether there was one."""
        ...


class Notes(Protocol):
    """What was noted on documents; a project's notes are its own."""

    def add(self, note: Note) -> None: ...
    def of(self, project: ProjectId, document: str, *, limit: int) -> Sequence[Note]:
        """Newest first (by id, descending)."""
        ...


class Links(Protocol):
    """Which conversations may be read from which."""

    def get(self, conversation: ConversationId, other: ConversationId) -> Link | None: ...
    def of(self, conversation: ConversationId) -> Sequence[Link]: ...
    def keep(self, link: Link) -> None:
        """Store a link, in the place of an earlier one between the same two."""
        ...

    def drop(self, conversation: ConversationId, other: ConversationId) -> bool:
        """Take a link back; answers whether there was one."""
        ...


class Imports(Protocol):
    """How far sessions of the CLIs were taken over."""

    def of(self, project: ProjectId) -> Sequence[Imported]: ...
    def keep(self, imported: Imported) -> None:
        """Store how far a session was taken over, in the place of what was known."""
        ...
