"""The matrix of vectors answers as a plain computation does, while it grows."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from mufakat.core.knowledge import posting
from mufakat.ports.embedding import Vector
from mufakat.retrieval.embedding import half, space
from mufakat.retrieval.embedding.space import MatrixSpace

pytest.importorskip("numpy", reason="no numpy")
DIMS = 12


def vectors(count: int, dice: random.Random, dims: int = DIMS) -> list[list[float]]:
    return [[dice.gauss(0, 1) for _ in range(dims)] for _ in range(count)]


def cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / (math.hypot(*one) * math.hypot(*other))


def test_cosines_are_those_of_a_plain_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    monkeypatch.setattr(space, "FIRST_ROOM", 3)
    some, asked = vectors(50, dice), vectors(1, dice)[0]
    made = MatrixSpace()
    for begin in range(0, 50, 7):
        part = some[begin : begin + 7]
        made.add(list(range(begin, begin + len(part))), [half.pack(one) for one in part])
    assert made.size == 50
    compared = made.compare(half.pack(asked))
    assert compared is not None
    wanted = {turn: cosine(one, asked) for turn, one in enumerate(some)}
    assert compared.of(range(60)) == pytest.approx(wanted, abs=2e-3)
    assert compared.mean == pytest.approx(statistics.fmean(wanted.values()), abs=2e-3)
    assert compared.deviation == pytest.approx(statistics.pstdev(wanted.values()), abs=2e-3)
    best = compared.best(5)
    assert [compared.of([one])[one] for one in best] == sorted(
        compared.of(range(50)).values(), reverse=True
    )[:5]


def test_only_some_conversations_are_looked_in() -> None:
    made = MatrixSpace()
    turns = [posting.turn_of(ordinal, posting.TALK, position=0) for ordinal in (1, 2, 3)]
    made.add(turns, [half.pack([1.0, 0.1 * at]) for at in range(3)])
    compared = made.compare(half.pack([1.0, 0.0]))
    assert compared is not None
    assert compared.best(2, {2, 3}) == turns[1:]
    assert compared.best(9) == turns


def test_what_is_no_vector_of_this_space_is_left_out() -> None:
    made = MatrixSpace()
    assert made.compare(half.pack([1.0])) is None
    made.add([1, 2, 3], [Vector(b""), half.pack([1.0, 2.0]), half.pack([1.0])])
    made.add([2], [half.pack([5.0, 5.0])])
    assert made.size == 1
    assert made.compare(half.pack([1.0])) is None


def test_a_comparison_does_not_see_what_comes_later() -> None:
    made = MatrixSpace()
    made.add([1], [half.pack([1.0, 0.0])])
    compared = made.compare(half.pack([1.0, 0.0]))
    made.add([2], [half.pack([1.0, 0.0])])
    assert compared is not None
    assert compared.of([1, 2]).keys() == {1}


def test_a_vector_is_packed_at_length_one() -> None:
    assert half.pack([3.0, 4.0]) == half.pack([0.6, 0.8])
    assert half.dims(half.pack([0.0] * 7)) == 7
    for wrong in ([], [math.nan], [math.inf], [0.0] * (half.MOST + 1)):
        with pytest.raises(ValueError, match="vector"):
            half.pack(wrong)
