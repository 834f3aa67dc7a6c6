"""The estimate of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é", 1), ("안녕하세요", 3), ("a" * 400, 100)],
)
def test_estimates(text: str, expected: int) -> None:
    assert tokens.estimate(text) == expected


@given(st.text(min_size=1))
def test_any_text_costs_something_and_at_most_a_token_a_character(text: str) -> None:
    assert 1 <= tokens.estimate(text) <= len(text)


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    assert tokens.estimate(text + more) >= tokens.estimate(text)
