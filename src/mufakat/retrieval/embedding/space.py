"""The vectors of one project as one matrix; numpy is imported when there is something in it."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mufakat.core.knowledge import posting
from mufakat.ports.embedding import Vector
from mufakat.retrieval.embedding import half

NEEDED = "numpy"
INSTALL = "install mufakat[vectors]"
FIRST_ROOM = 1_024
CONVERSATION = posting.POSITION_BITS + 1
"""Bits of a turn's number below those of its conversation."""


@dataclass(frozen=True, slots=True)
class Cosines:
    """How near every vector is to one question; later additions do not change it."""

    turns: Any
    """int64, a turn a row."""
    cosines: Any
    """f32, in the same order."""
    rows: Mapping[int, int]
    mean: float
    deviation: float

    def best(self, count: int, among: Container[int] | None = None) -> Sequence[int]:
        """The nearest turns, nearest first; of equals the later one."""
        numpy = importlib.import_module(NEEDED)
        turns, cosines = self.turns, self.cosines
        if among is not None:
            homes = turns >> CONVERSATION
            wanted = [one for one in numpy.unique(homes).tolist() if one in among]
            inside = numpy.isin(homes, wanted)
            turns, cosines = turns[inside], cosines[inside]
        if len(turns) > count:
            chosen = numpy.argpartition(cosines, len(cosines) - count)[-count:]
            turns, cosines = turns[chosen], cosines[chosen]
        order = numpy.lexsort((-turns, -cosines))
        return [int(turn) for turn in turns[order]]

    def of(self, turns: Collection[int]) -> Mapping[int, float]:
        """Cosines of some turns; one without a vector is left out."""
        known = len(self.cosines)
        found = ((turn, self.rows.get(turn, known)) for turn in turns)
        return {turn: float(self.cosines[row]) for turn, row in found if row < known}


class MatrixSpace:
    """Grows by doubling; a comparison sees what was there when it began."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._turns: Any = None
        self._matrix: Any = None

    @property
    def size(self) -> int:
        """Vectors in it."""
        return len(self._rows)

    def add(self, turns: Sequence[int], vectors: Sequence[Vector]) -> None:
        """Take more in; what is empty or of other dimensions is left out."""
        dims = self._dims(vectors)
        fresh = {
            turn: vector
            for turn, vector in zip(turns, vectors, strict=True)
            if vector and half.dims(vector) == dims and turn not in self._rows
        }
        if not fresh:
            return
        numpy = importlib.import_module(NEEDED)
        numbers, some = list(fresh), list(fresh.values())
        begin, end = self.size, self.size + len(fresh)
        self._make_room(numpy, end, dims=dims)
        wide = numpy.frombuffer(b"".join(some), dtype="<f2").reshape(len(some), -1)
        self._matrix[begin:end] = wide
        self._turns[begin:end] = numbers
        self._rows.update(zip(numbers, range(begin, end), strict=True))

    def compare(self, question: Vector) -> Cosines | None:
        """Compare all with a question; None where there is nothing to compare."""
        size = self.size
        if not size or half.dims(question) != self._matrix.shape[1]:
            return None
        numpy = importlib.import_module(NEEDED)
        asked = numpy.frombuffer(question, dtype="<f2").astype(numpy.float32)
        cosines = self._matrix[:size] @ asked
        return Cosines(
            self._turns[:size],
            cosines,
            self._rows,
            float(cosines.mean()),
            float(cosines.std()),
        )

    def _dims(self, vectors: Sequence[Vector]) -> int:
        """Numbers of a vector here; the first one decides."""
        if self._matrix is not None:
            return int(self._matrix.shape[1])
        return next((half.dims(one) for one in vectors if one), 0)

    def _make_room(self, numpy: Any, size: int, *, dims: int) -> None:
        if self._matrix is None:
            room = max(FIRST_ROOM, size)
            self._matrix = numpy.zeros((room, dims), dtype=numpy.float32)
            self._turns = numpy.zeros(room, dtype=numpy.int64)
        elif size > len(self._turns):
            room = max(2 * len(self._turns), size)
            matrix, turns = self._matrix, self._turns
            self._matrix = numpy.zeros((room, dims), dtype=numpy.float32)
            self._turns = numpy.zeros(room, dtype=numpy.int64)
            self._matrix[: len(turns)], self._turns[: len(turns)] = matrix, turns
