"""Texts as vectors, where somebody has set a model for it; nothing needs one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import NewType, Protocol

Vector = NewType("Vector", bytes)
"""Numbers of two bytes (IEEE 754 half, little-endian), together of length one; empty for none."""


class Embedder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def model(self) -> str:
        """What tells its vectors from those of every other model."""
        ...

    @property
    def dims(self) -> int:
        """Numbers of a vector; 0 until it has answered once."""
        ...

    @property
    def problem(self) -> str:
        """Why it cannot be used, with what to do about it; empty where nothing is known to be."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each text, in their order.

        Raises InvalidInput where one of these texts is refused, other MufakatErrors where nothing
        can be had now.
        """
        ...


class Compared(Protocol):
    """How near every vector of a space is to one question."""

    @property
    def mean(self) -> float:
        """Of all cosines."""
        ...

    @property
    def deviation(self) -> float: ...

    def best(self, count: int, among: Container[int] | None = None) -> Sequence[int]:
        """The nearest turns, nearest first; `among` are the conversations to look in, by number."""
        ...

    def of(self, turns: Collection[int]) -> Mapping[int, float]:
        """Cosines of some turns; one without a vector is left out."""
        ...


class Space(Protocol):
    """The vectors of one project, in memory; derived from those in the store."""

    @property
    def size(self) -> int:
        """Vectors in it."""
        ...

    def add(self, turns: Sequence[int], vectors: Sequence[Vector]) -> None:
        """Take more in; what is empty or of other dimensions is left out."""
        ...

    def compare(self, question: Vector) -> Compared | None:
        """Compare all with a question; None where there is nothing to compare."""
        ...


MakeSpace = Callable[[], Space]
