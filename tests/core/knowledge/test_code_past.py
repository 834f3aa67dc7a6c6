"""Earlier changes say which files a described one touches, the newer ones louder."""

from __future__ import annotations

from mufakat.core.knowledge import code_past, code_query
from mufakat.core.knowledge.code_past import Past


def past(*changes: tuple[str, tuple[str, ...]]) -> Past:
    return code_past.of(
        ([term for term, _ in code_query.parse(message).terms], files) for message, files in changes
    )


def best(found: dict[str, float]) -> str:
    return max(found, key=lambda path: found[path])


def test_a_file_is_found_by_messages_that_are_like_the_question() -> None:
    known = past(
        ("Bump click from 1 to 2", ("uv.lock",)),
        ("Fix parsing of cookies", ("cookie.py", "test_cookie.py")),
    )
    assert best(code_past.alike(code_query.parse("Bump aiohttp from 3 to 4"), known)) == "uv.lock"
    found = code_past.alike(code_query.parse("cookies with a comma"), known)
    assert found.keys() == {"cookie.py", "test_cookie.py"}


def test_a_newer_change_counts_more() -> None:
    many = [("Other things", ("other.py",))] * code_past.HALF_LIFE
    known = past(("Fix cookies", ("new.py",)), *many, ("Fix cookies", ("old.py",)))
    found = code_past.alike(code_query.parse("cookies"), known)
    assert found["new.py"] > 1.5 * found["old.py"]


def test_files_that_change_together_are_found_by_one_of_them() -> None:
    known = past(
        ("one", ("cookie.py", "test_cookie.py")),
        ("two", ("cookie.py", "test_cookie.py")),
        ("three", ("cookie.py", "CHANGES.md")),
        ("four", ("other.py", "CHANGES.md")),
    )
    found = code_past.together({"cookie.py": 1.0}, known)
    assert found["test_cookie.py"] > found["CHANGES.md"] > 0
    assert found.keys() == {"test_cookie.py", "CHANGES.md"}


def test_no_past_says_nothing() -> None:
    asked = code_query.parse("cookies")
    assert code_past.alike(asked, code_past.NONE) == {}
    assert code_past.together({"cookie.py": 1.0}, code_past.NONE) == {}
    assert code_past.NONE.often == {}


def test_what_changes_often_and_lately_is_known() -> None:
    known = past(*[("x", ("often.py",))] * 5, ("y", ("once.py",)))
    assert known.often["often.py"] > known.often["once.py"] > 0
