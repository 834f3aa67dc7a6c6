"""What nearness adds to words: linear, by how far a turn stands out, nothing without vectors."""

from __future__ import annotations

import random

import pytest

from mufakat.core.base import MessageId, Millis
from mufakat.core.knowledge import fusion, query, turn_ranking
from mufakat.core.knowledge.fusion import Spread, Weights
from mufakat.core.knowledge.indexing import IndexedTurn

WEIGHTS = Weights(own=0.4, previous=0.2, next=0.1)


def test_the_sum_is_linear_and_in_deviations() -> None:
    cosines = {10: 0.5, 11: 0.3, 12: 0.2}
    found = fusion.added([11], cosines, Spread(0.2, 0.1), weights=WEIGHTS)
    assert found == pytest.approx({11: 0.4 * 1.0 + 0.2 * 3.0 + 0.1 * 0.0})


def test_a_turn_without_a_vector_is_as_near_as_all() -> None:
    assert fusion.added([7], {}, Spread(0.2, 0.1), weights=WEIGHTS) == {7: 0.0}
    assert fusion.added([7], {7: 0.9}, Spread(0.9, 0.0), weights=WEIGHTS) == {7: 0.0}


def test_only_what_stands_out_is_a_candidate() -> None:
    cosines = {1: 0.9, 2: 0.41, 3: 0.39}
    assert fusion.candidates([1, 2, 3, 4], cosines, Spread(0.2, 0.1)) == [1, 2]


@pytest.mark.parametrize(
    ("question", "embedded"),
    [
        ("What did Caroline buy?", "What did buy?"),
        ("What is caroline's car?", "What is car?"),
        ("What is Caroline’s car?", "What is car?"),
        ("Caroline?", "Caroline?"),
        ("Who is Carolines friend", "Who is Carolines friend"),
    ],
)
def test_names_of_speakers_are_no_part_of_what_is_embedded(question: str, embedded: str) -> None:
    assert fusion.without_names(question, ["Caroline", "claude@host:1a2b"]) == embedded


def test_a_long_question_is_embedded_by_its_beginning() -> None:
    assert len(fusion.without_names("word " * 100_000, ["Ada"])) <= fusion.QUESTION_CHARS


def known(turns: list[int]) -> dict[int, IndexedTurn]:
    return {
        turn: IndexedTurn(MessageId(f"m_{turn}"), turn, Millis(turn), "ada@h:1", turn % 64)
        for turn in turns
    }


def test_without_vectors_the_ranking_is_the_one_of_words() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    dice = random.Random(seed)
    question = query.parse("which port does the parser take", ["ada@h:1"])
    entries = {
        term: sorted({dice.randrange(400) << 2 | dice.randrange(1, 4) for _ in range(40)})
        for term in question.terms
    }
    matches = turn_ranking.match(question, entries, turns=100, mean=8.0)
    some = known(list(range(100)))
    plain = turn_ranking.rank(question, matches, some)
    assert turn_ranking.rank(question, matches, some, also={}) == plain
    assert turn_ranking.rank(question, matches, some, also=dict.fromkeys(some, 0.0)) == plain


def test_what_is_added_decides_between_equals() -> None:
    question = query.parse("port")
    entries = {"port": [10 << 2 | 1, 50 << 2 | 1]}
    matches = turn_ranking.match(question, entries, turns=100, mean=8.0)
    some = known([10, 50])
    ranked = turn_ranking.rank(question, matches, some, also={10: 0.5})
    assert [one.turn for one in ranked] == [10, 50]
