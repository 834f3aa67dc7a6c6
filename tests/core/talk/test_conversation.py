"""A conversation's title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.talk import conversation


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Fix the bug", "Fix the bug"),
        ("\n\n  Fix the bug  \nand more", "Fix the bug"),
        ("", "Untitled"),
        (" \n\t\n", "Untitled"),
        ("one two three four", "one two…"),
        ("unbreakable-word", "unbreakabl…"),
    ],
)
def test_titles(prompt: str, expected: str) -> None:
    assert conversation.title_of(prompt, limit=11) == expected


@given(st.text(), st.integers(2, 100))
def test_a_title_is_one_line_within_its_limit(prompt: str, limit: int) -> None:
    title = conversation.title_of(prompt, limit)
    assert title
    assert title == "Untitled" or len(title) <= limit
    assert len(title.splitlines()) == 1
