"""The terms of a text: stems, names whole and in parts, pairs of CJK letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.knowledge import stem, words


def plain(text: str) -> list[str]:
    return [term for term in words.terms(text) if not words.is_gram(term)]


@pytest.mark.parametrize(
    ("forms", "stem_"),
    [
        (("relational", "relate", "relating"), "relat"),
        (("hopping", "hopped", "hops"), "hop"),
        (("ponies", "pony"), "poni"),
        (("agreed", "agrees", "agree"), "agre"),
        (("generalization", "generalize"), "gener"),
        (("adoption", "adopted", "adopt"), "adopt"),
        (("electricity", "electrical"), "electr"),
        (("went", "goes", "going", "gone"), "go"),
        (("bought", "buying"), "bui"),
        (("children", "child"), "child"),
        (("yes", "yelled"), None),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...], stem_: str | None) -> None:
    if stem_ is not None:
        assert {stem.stem(form) for form in forms} == {stem_}


@given(st.text(max_size=200))
def test_every_text_has_terms_of_bounded_length(text: str) -> None:
    for term in words.terms(text):
        assert 0 < len(term) <= words.LONGEST


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=40))
def test_a_stem_is_not_longer_than_its_word(word: str) -> None:
    assert len(stem.stem(word.lower())) <= len(word) + 1


def test_names_are_kept_whole_and_in_parts() -> None:
    assert plain("parserConfig") == ["parserconfig", "parser", "config"]
    assert plain("parser_config") == ["parser_config", "parser", "config"]
    assert plain("HTTPServer2") == ["httpserver2", "http", "server", "2"]
    assert "~ser" in list(words.terms("parser_config"))


def test_cjk_is_found_by_pairs() -> None:
    assert plain("选择端口") == ["选择", "择端", "端口"]
    assert plain("港") == ["港"]
    assert plain("port端口8123") == ["port", "端口", "8123"]


def test_accents_and_case_do_not_matter() -> None:
    assert plain("Café NAÏVE") == plain("cafe naive")


def test_words_that_are_everywhere_are_left_out() -> None:
    assert plain("What was it that you did?") == []


def test_a_megabyte_of_anything_takes_no_time() -> None:
    for text in ("_" * 1_000_000, "aA" * 500_000, "端" * 300_000, "\u200b" * 1_000_000):
        assert sum(1 for _ in words.terms(text)) <= 1_000_000
