"""Cutting never breaks what a reader sees; cleaning leaves nothing invisible."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mufakat.core import text

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1ee\U0001f1e9"
UNITS = ["a", " ", "é", "e\u0301", "한", "각", FAMILY, FLAG, "👍🏽", "❤️", "\x1b[31m", "नि", "\r\n"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("around", ["x", FLAG, "한"])
def test_a_cut_never_falls_inside_a_visible_character(unit: str, around: str) -> None:
    whole = around + unit + around
    for limit in range(len(whole) + 1):
        head = text.cut(whole, limit)
        assert len(head) <= limit
        inside = whole[len(around) : len(around) + len(unit)]
        assert len(head) <= len(around) or len(head) >= len(around) + len(inside), (limit, head)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(UNITS), max_size=60), st.integers(0, 200))
def test_head_and_tail_are_pieces_of_the_text_within_the_limit(units: list[str], at: int) -> None:
    whole = "".join(units)
    head, tail = text.cut(whole, at), text.cut_tail(whole, at)
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert max(len(head), len(tail)) <= at or len(whole) <= at


@settings(max_examples=500)
@given(st.text(max_size=3_000), st.integers(120, 2_000))
def test_both_ends_keep_to_the_limit(whole: str, limit: int) -> None:
    assert (
        len(text.head_and_tail(whole, limit, note="… cut …")) <= max(limit, 0)
        or len(whole) <= limit
    )


def test_a_code_fence_that_is_cut_open_is_closed_and_opened_again() -> None:
    whole = "before\n```python\n" + "x = 1\n" * 500 + "```\nafter"
    ends = text.head_and_tail(whole, 1_000, note="… cut …")
    assert text.open_fence(ends) == ""
    assert ends.count("```") % 2 == 0


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]52;c;aGk=\x07x", "x"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\x00b", "a<U+0000>b"),
        ("a\x9bb", "a<U+009B>b"),
        ("a\rb", "a<U+000D>b"),
        ("a\r\nb", "a\nb"),
        ("\ufeffa", "<U+FEFF>a"),
        (FAMILY, FAMILY),
        ("\ud800", "<U+D800>"),
    ],
)
def test_clean_shows_what_cannot_be_seen(dirty: str, clean: str) -> None:
    assert text.clean(dirty) == clean


def test_a_million_invisible_characters_are_cleaned_without_trouble() -> None:
    assert len(text.clean("\u200b" * 1_000_000)) == 8_000_000


@pytest.mark.parametrize("path", ["@README.md", "@/etc/hostname", "@../x", "<a>@b</a>", "@@x"])
def test_neutralised_at_signs_are_followed_by_a_word_joiner(path: str) -> None:
    safe = text.neutralise_at(path)
    assert safe.replace(text.WORD_JOINER, "") == path
    assert "@" not in safe.replace("@" + text.WORD_JOINER, "")


def test_one_line_is_one_line() -> None:
    assert text.one_line("a\n\n b\tc", 20) == "a b c"
    assert text.one_line("word " * 50, 12) == "word word w…"
