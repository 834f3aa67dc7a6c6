"""Files that a described change touches are ordered by text, path, names and earlier changes."""

from __future__ import annotations

from array import array
from dataclasses import replace

from mufakat.core.knowledge import code_files, code_past, code_query
from mufakat.core.knowledge.code_files import WEIGHTS
from mufakat.core.knowledge.code_past import Past
from mufakat.core.knowledge.code_scores import Corpus, Scores

PATHS = ("src/cookie.py", "tests/test_cookie.py", "uv.lock", "docs/other.md")
PRIORS = (1.0, 0.5, 0.4, 0.6)
EMPTY = frozenset[str]()


def corpus() -> Corpus:
    """One piece a file."""
    return Corpus(
        file_of=array("i", range(4)),
        norms=array("f", [1.2] * 4),
        file_norms=array("f", [1.2] * 4),
        pieces=4,
        files=4,
        priors=PRIORS,
        path_terms=[EMPTY] * 4,
        name_terms=[EMPTY] * 4,
        path_idf={},
        path_vocabulary=[],
        path_index={},
    )


def rank(text: str, found: Scores, past: Past = code_past.NONE, **more: float) -> list[str]:
    weights = replace(WEIGHTS, **more)  # type: ignore[arg-type]
    query = code_query.parse(text)
    ranked = code_files.rank(query, corpus(), found, paths=PATHS, past=past, weights=weights)
    return [PATHS[file] for _, file in ranked]


def past(*changes: tuple[str, tuple[str, ...]]) -> Past:
    return code_past.of(
        ([term for term, _ in code_query.parse(message).terms], files) for message, files in changes
    )


def test_a_test_with_better_text_is_not_put_behind_by_its_path() -> None:
    found = Scores(body={0: 7.0, 1: 10.0}, file_body={0: 7.0, 1: 10.0})
    assert rank("cookie", found)[0] == "tests/test_cookie.py"
    assert rank("cookie", found, prior=0.7)[0] == "src/cookie.py"


def test_the_company_of_the_best_file_comes_before_the_rest() -> None:
    found = Scores(body={0: 9.0, 3: 2.0})
    known = past(*[("x", ("src/cookie.py", "tests/test_cookie.py"))] * 4)
    assert rank("cookie", found, known)[:2] == ["src/cookie.py", "tests/test_cookie.py"]
    assert rank("cookie", found, known, together=0.0, often=0.0) == [
        "src/cookie.py",
        "docs/other.md",
    ]


def test_a_file_without_a_word_of_the_description_is_found_by_its_past() -> None:
    known = past(("Bump click to 2", ("uv.lock",)), ("Fix cookies", ("src/cookie.py",)))
    assert rank("Bump aiohttp to 3", Scores(body={3: 1.0}), known)[0] == "uv.lock"
    assert "uv.lock" not in rank("Bump aiohttp to 3", Scores(body={3: 1.0}))


def test_the_end_of_a_path_names_a_file() -> None:
    found = Scores(body={0: 9.0, 3: 2.0})
    assert rank("see docs/other.md:12", found)[0] == "docs/other.md"
    assert rank("see mother.md", found)[0] == "src/cookie.py"


def test_the_best_piece_of_a_file_is_told() -> None:
    found = Scores(body={0: 1.0, 1: 2.0})
    assert code_files.pieces(found, corpus(), frozenset((1, 2))) == {1: 1}
