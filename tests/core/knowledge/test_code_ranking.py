"""Fields, priors and damping order pieces as they are meant to."""

from __future__ import annotations

from array import array
from dataclasses import replace

from mufakat.core.knowledge import code_query, code_ranking, code_scores
from mufakat.core.knowledge.code_ranking import WEIGHTS, Ranked
from mufakat.core.knowledge.code_scores import COUNT_BITS, Corpus

NAMES = ("session", "cookie", "test_session")


def corpus() -> Corpus:
    """Three files of two pieces each."""
    terms = [frozenset({name}) for name in ("session", "cook", "session")]
    index = {"session": [0, 2], "cook": [1]}
    return Corpus(
        file_of=array("i", [0, 0, 1, 1, 2, 2]),
        norms=array("f", [1.2] * 6),
        file_norms=array("f", [1.2] * 3),
        pieces=6,
        files=3,
        priors=[1.0, 1.0, 0.5],
        path_terms=terms,
        name_terms=terms,
        path_idf={"session": 0.5, "cook": 1.0},
        path_vocabulary=["cook", "session"],
        path_index=index,
    )


def rank(text: str, postings: dict[str, list[tuple[int, int]]], **more: float) -> list[Ranked]:
    packed = {
        term: [piece << COUNT_BITS | count for piece, count in found]
        for term, found in postings.items()
    }
    weights = replace(WEIGHTS, **more)
    query = code_query.parse(text)
    return code_ranking.rank(query, corpus(), packed, [0, 2, 4], limit=10, weights=weights)


def test_the_rarer_word_counts_more() -> None:
    common = [(piece, 1) for piece in range(4)]
    found = rank("alpha beta", {"alpha": common, "beta": [(2, 1)]})
    assert found[0].piece == 2


def test_a_definition_counts_more_than_a_mention() -> None:
    mentioned = [(0, 1), (2, 1)]
    found = rank("fooBar", {"foobar": mentioned, code_scores.EXACT + "foobar": [(2, 1)]})
    assert found[0].piece == 2
    assert "defines it" in found[0].why
    twin = rank(
        "fooBar",
        {"foobar": mentioned, code_scores.EXACT + "foobar": [(2, 1)]},
        exact_symbol=0.0,
    )
    assert twin[0].piece == 0


def test_tests_come_behind_what_they_test() -> None:
    same = {"alpha": [(1, 1), (5, 1)]}
    assert [one.file for one in rank("alpha", same)] == [0, 2]


def test_a_path_alone_is_an_answer() -> None:
    found = rank("cookies", {})
    assert [(one.file, one.piece) for one in found] == [(1, 2)]
    assert found[0].why == ("its path",)


def test_a_second_piece_of_a_file_waits_behind_other_files() -> None:
    postings = {"alpha": [(0, 9), (1, 9), (2, 5)]}
    assert [one.piece for one in rank("alpha", postings)] == [0, 2, 1]
    assert [one.piece for one in rank("alpha", postings, again=1.0)] == [0, 1, 2]


def test_pieces_of_files_that_are_gone_do_not_count() -> None:
    gone = replace(corpus(), file_of=array("i", [-1, -1, 1, 1, 2, 2]))
    query = code_query.parse("alpha")
    packed = {"alpha": [0 << COUNT_BITS | 1, 2 << COUNT_BITS | 1]}
    found = code_ranking.rank(query, gone, packed, [0, 2, 4], limit=10)
    assert [one.piece for one in found] == [2]


def test_the_commonest_terms_are_left_out_where_they_cost_too_much() -> None:
    many = [1 << COUNT_BITS | 1] * (code_scores.MOST_POSTINGS + 1)
    query = code_query.parse("alpha beta")
    found = code_scores.scores(query, corpus(), {"alpha": many, "beta": [2 << COUNT_BITS | 1]})
    assert set(found.body) == {2}
