"""The page that says which test stands for which case names only tests that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = REPOSITORY / "tests"
PAGE = (REPOSITORY / "docs" / "reports" / "coverage.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
ROW = re.compile(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
EXPECTED = {
    "Cases A": [1, 2, 4, 5, 7, 8, 9, 10, 12, 13, 15, 17, 18, 20],
    "Cases B": [21, 22, 23, 25, 26, 27, 29, 30, 32, 33, 35, 36, 37, 38, 40],
    "Cases C": [42, 43, 44, 45, 47, 48, 49, 51, 52],
    "Cases D": [54, 55, 56, 57, 59, 61],
    "Cases E": [63, 64, 65, 67, 68, 69, 70, 72, 73],
    "Cases F": [75, 76, 78, 79, 80, 81, 82, 84, 85, 87, 89],
    "Cases G": [90, 91, 92, 94, 95, 96, 98, 99],
    "Cases H": [100, 101, 103, 104, 105],
    "Cases I": [106, 108, 109],
    "Hostile inputs": [*range(1, 53), *range(58, 68)],
    "Rules for subprocesses": [f"X{number}" for number in range(1, 13)],
    "Rules of coordination": [
        f"{letter}{number}"
        for letter, most in (("T", 5), ("L", 13), ("P", 6), ("M", 8), ("G", 9), ("S", 4))
        for number in range(1, most + 1)
    ]
    + [*(f"E{number}" for number in range(1, 9)), *(f"C{number}" for number in range(1, 7))]
    + ["A9", "A10"],
    "Test plan": ["Q1", "Q2", "Q3", "Q6", "Q8", "Q9", "Q10", "Q11", "Q14", "Q16"],
}


@cache
def functions(file: str) -> frozenset[str]:
    """The test functions that a file defines; none where there is no such file."""
    path = TESTS / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    )


def missing(text: str) -> list[str]:
    """Tests that a text names and that do not exist."""
    return [f"{file}::{name}" for file, name in NAMED.findall(text) if name not in functions(file)]


def sections(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each part of the page with its rows: what stands in the last column, by id."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = part.split("\n")[0].split(":")[0]
        rows = {id: cell for id, _, cell in ROW.findall(part) if id not in {"case", "row"}}
        yield title, {id: cell for id, cell in rows.items() if id not in {"rule", "id"}}


def test_every_test_that_is_named_exists() -> None:
    assert len(NAMED.findall(PAGE)) > 100
    assert missing(PAGE) == []


@pytest.mark.parametrize(
    "name",
    ["cases/test_context.py::test_case_001_gone", "cases/test_gone.py::test_x", "conftest.py::x"],
)
def test_twin_a_test_that_is_gone_is_noticed(name: str) -> None:
    assert missing(f"| 1 | what | `{name}` |") == [name]


def test_every_case_has_its_row() -> None:
    found = {title: list(rows) for title, rows in sections(PAGE)}
    assert found == {title: [str(id) for id in ids] for title, ids in EXPECTED.items()}


def test_a_row_without_a_test_says_why() -> None:
    for title, rows in sections(PAGE):
        for id, cell in rows.items():
            assert NAMED.search(cell) or cell.startswith("not here: "), (title, id)
