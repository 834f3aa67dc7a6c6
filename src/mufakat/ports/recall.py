"""The part of the store by which what was said is found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mufakat.core.base import ConversationId, ProjectId
from mufakat.core.knowledge.indexing import Behind, IndexedTurn, Turn
from mufakat.ports.embedding import Vector


@dataclass(frozen=True, slots=True)
class IndexScope:
    """What the index of one project holds in all."""

    turns: int
    terms: int
    """Sum of the lengths of all turns."""
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation as the index knows it."""

    conversation: ConversationId
    talk: int
    """Turns of people and agents that are indexed."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """How far one conversation has vectors of one model."""

    conversation: ConversationId
    ordinal: int
    talk: int
    """Turns of people and agents that are indexed."""
    done: int
    """Those of them that have a vector, from the first on."""


class Vectors(Protocol):
    """Vectors of what was said; derived from its index and a model."""

    def standing(self, project: ProjectId, model: str) -> Sequence[Embedded]:
        """Every indexed conversation of a project, and how far it has vectors of this model."""
        ...

    def some(self, first: int, end: int, *, model: str) -> Mapping[int, Vector]:
        """Vectors of the turns from `first` up to `end`, by their numbers in the index."""
        ...

    def add(self, at: Embedded, vectors: Sequence[Vector], *, model: str) -> bool:
        """Keep the vectors of the turns that follow `at.done`; False where there are others now.

        They replace those of another model.
        """
        ...


class Recall(Protocol):
    """Full text over what was said, a project at a time; derived from its messages."""

    def behind(self, project: ProjectId, *, limit: int) -> Sequence[Behind]:
        """Conversations with messages that are not indexed yet."""
        ...

    def add(self, behind: Behind, turns: Sequence[Turn]) -> bool:
        """Index the messages that follow `behind.indexed`; False where they are already."""
        ...

    def scope(self, project: ProjectId) -> IndexScope: ...

    def entries(self, project: ProjectId, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Where each term occurs, see core.knowledge.posting; one that nobody said is left out."""
        ...

    def turns(self, numbers: Sequence[int]) -> Mapping[int, IndexedTurn]:
        """What turns are, by their numbers in the index; one that there is not is left out."""
        ...

    def ordinals(self, conversations: Sequence[ConversationId]) -> Mapping[ConversationId, int]:
        """The numbers of conversations in the index."""
        ...

    def threads(self, ordinals: Sequence[int]) -> Mapping[int, Thread]:
        """The conversations of such numbers."""
        ...

    def between(
        self, project: ProjectId, begin: int, *, end: int, limit: int
    ) -> Mapping[int, Thread]:
        """Conversations of which something was said in a time, the newest ones."""
        ...
