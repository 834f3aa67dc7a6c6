"""A small model for tests: words of one meaning lie in one direction; it fails when it is told."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence

from mufakat.core.base import InvalidInput, MufakatError
from mufakat.core.knowledge import words
from mufakat.ports.embedding import Vector
from mufakat.retrieval.embedding import half

DIMS = 64
MEANINGS = ({"car", "automobil", "vehicl"}, {"cat", "kitten", "felin"})


class SmallModel:
    """Counts words by their meaning; keeps what it was asked."""

    def __init__(self, model: str = "small", *, dims: int = DIMS) -> None:
        self.model = model
        self.dims = dims
        self.problem = ""
        self.asked: list[str] = []
        self.fails: MufakatError | None = None
        self.refuses = ""
        self.seconds = 0.0

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked += texts
        await asyncio.sleep(self.seconds)
        if self.fails is not None:
            raise self.fails
        if self.refuses and any(self.refuses in text for text in texts):
            raise InvalidInput("The model refused a text.")
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        numbers = [0.01] * self.dims
        for term in words.terms(text):
            numbers[_place(term, self.dims)] += 1.0
        return half.pack(numbers)


def _place(term: str, dims: int) -> int:
    meanings = [at for at, some in enumerate(MEANINGS) if term in some]
    return meanings[0] if meanings else 8 + zlib.crc32(term.encode()) % (dims - 8)
