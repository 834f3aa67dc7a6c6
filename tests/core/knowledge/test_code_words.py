"""Words of code come to one form, whatever way they are written."""

from __future__ import annotations

import time

import pytest

from mufakat.core.knowledge import code_query, code_words


def terms(word: str) -> tuple[str, ...]:
    return code_words.Terms()[word]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("parseHTTPHeader", ["parse", "http", "header"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("SCREAMING_CASE", ["screaming", "case"]),
        ("utf8", ["utf", "8"]),
        ("größe", ["gr", "öß", "e"]),
        ("__init__", ["init"]),
    ],
)
def test_identifiers_come_apart(word: str, parts: list[str]) -> None:
    assert code_words.parts(word) == parts


@pytest.mark.parametrize(
    "family",
    [
        "serialize serializer serializing serialization serialized serializes",
        "validate validator validation validating validated",
        "route router routing routes routed",
        "parse parser parsing parsed parses",
        "connection connect connected connections connecting",
        "dependency dependencies dependent",
        "map mapping mapper mapped",
        "query queries",
        "cfg config configuration conf",
        "req request requests",
        "OpenAPI openapi open_api",
    ],
)
def test_forms_of_a_word_are_one_term(family: str) -> None:
    assert len({terms(word)[-1] for word in family.split()}) == 1


@pytest.mark.parametrize("word", ["class", "status", "process", "this", "is", "id3", "ab", "日本"])
def test_what_is_no_form_of_another_stays(word: str) -> None:
    assert code_words.stem(word) == word


def test_a_whole_identifier_is_a_term_beside_its_parts() -> None:
    assert terms("fooBarBaz") == ("foo", "bar", "baz", "foobarbaz")
    assert terms("x" * 81) == ()


def test_a_question_drops_stop_words_unless_there_is_nothing_else() -> None:
    assert dict(code_query.parse("how does the parser work").terms).keys() == set(terms("parser"))
    assert dict(code_query.parse("how does it").terms)
    assert code_query.parse("").empty
    assert code_query.parse("-- !! ()").empty


def test_a_symbol_is_one_word_without_space() -> None:
    for text in ("SessionStore", "a::b::c", "Foo.bar", "save!"):
        assert code_query.parse(text).symbol
    assert not code_query.parse("session store").symbol


def test_names_that_look_like_identifiers_are_told_from_words() -> None:
    assert dict(code_query.parse("where is openSession called by workers").names) == {
        "opensession": True,
        "called": False,
        "workers": False,
    }


def test_a_long_question_is_bounded() -> None:
    found = code_query.parse(" ".join(f"word{n}x" for n in range(100_000)))
    assert len(found.terms) <= code_query.MOST_TERMS


def test_the_people_and_addresses_of_a_commits_message_are_no_words_of_it() -> None:
    message = (
        "Mend the parser\n\nSee https://example.org/wiki and lexer.py, src/grammar\n\n"
        "Co-authored-by: Ana Zebra <zebra@example.org>\nSigned-off-by: bot\n"
    )
    found = code_query.parse(message)
    words = ["mend", "parser", "see", "lexer", "py", "src", "grammar"]
    assert dict(found.terms).keys() == {term for word in words for term in terms(word)}
    assert found.paths == ("lexer.py", "src/grammar")


def test_the_first_line_of_a_message_counts_more() -> None:
    found = dict(code_query.parse("parser\n\nlexer").terms)
    assert [found[terms(word)[0]] for word in ("parser", "lexer")] == [code_query.TITLE, 1.0]
    assert dict(code_query.parse("parser").terms)[terms("parser")[0]] == 1.0


def test_what_stands_in_backticks_is_an_identifier() -> None:
    assert dict(code_query.parse("call `merge` and split").names) == {
        "call": False, "merge": True, "split": False,
    }  # fmt: skip


def test_a_hostile_message_is_read_in_time() -> None:
    began = time.monotonic()
    for text in ("a" * 100_000, "a@" * 50_000, "`" * 100_000, "/." * 50_000, "by:\n" * 30_000):
        code_query.parse(text)
    assert time.monotonic() - began < 3
