"""Overlap of path patterns, held against matching every short path by an independent matcher."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import find, given, seed, settings
from hypothesis import strategies as some

from mufakat.core.coordination import pattern

SEED = 20261130
Overlap = Callable[[str, str], bool]

WORDS = ["".join(letters) for n in (1, 2) for letters in itertools.product("abc", repeat=n)]
LONG = ["".join(letters) for n in (1, 2, 3, 4) for letters in itertools.product("abc", repeat=n)]
PATHS = ["/" + "/".join(parts) for n in range(4) for parts in itertools.product(WORDS, repeat=n)]

TOKEN = some.sampled_from(["a", "b", "?", "*", "[ab]", "[!a]", "[b-c]"])
SEGMENT = some.lists(TOKEN, min_size=1, max_size=2).map("".join)
WIDE = some.lists(TOKEN, min_size=1, max_size=3).map("".join)
PATTERN = some.lists(some.one_of(SEGMENT, some.just("**")), min_size=1, max_size=3).map(
    lambda parts: "/" + "/".join(parts)
)


def expression(text: str) -> re.Pattern[str]:
    """The same pattern as a regular expression, written without looking at the automata."""
    out = ""
    for part in text.split("/")[1:]:
        out += "(?:/[^/]+)*" if re.fullmatch(r"\*\*", part) else "/(?=[^/])" + _segment(part)
    return re.compile((out + "/?") if out == "(?:/[^/]+)*" else out)


def _segment(part: str) -> str:
    part = re.sub(r"\*+", "*", part)
    tokens = re.findall(r"\[[^]]+\]|.", part)
    change = {"*": "[^/]*", "?": "[^/]"}
    return "".join(change.get(token, token.replace("[!", "[^/")) for token in tokens)


def by_force(one: str, other: str, universe: list[str]) -> bool:
    a, b = expression(one), expression(other)
    return any(a.fullmatch(path) and b.fullmatch(path) for path in universe)


def naive_prefix(one: str, other: str) -> bool:
    """What many tools do: compare what stands before the first wildcard."""
    a, b = (pattern.WILD.split(text, maxsplit=1)[0] for text in (one, other))
    return a.startswith(b) or b.startswith(a)


def holds(overlap: Overlap, one: str, other: str) -> None:
    """Patterns of three segments need paths of four at most; those of three are looked at."""
    if overlap(one, other):
        deep = "**" in one.split("/") and "**" in other.split("/")
        assert deep or by_force(one, other, PATHS), (one, other)
    else:
        assert not by_force(one, other, PATHS), (one, other)


@seed(SEED)
@settings(max_examples=300)
@given(PATTERN, PATTERN)
def test_overlap_is_what_brute_force_finds(one: str, other: str) -> None:
    print(f"seed={SEED} {one} {other}")
    holds(pattern.overlap, one, other)
    assert pattern.overlap(one, other) == pattern.overlap(other, one)
    assert pattern.may_overlap(one, other) or not pattern.overlap(one, other)


@seed(SEED)
@settings(max_examples=500)
@given(WIDE, WIDE)
def test_overlap_of_single_segments_is_exact(one: str, other: str) -> None:
    print(f"seed={SEED} {one} {other}")
    universe = ["/" + word for word in LONG]
    a, b = "/" + one.replace("**", "*"), "/" + other.replace("**", "*")
    assert pattern.overlap(a, b) == by_force(a, b, universe)
    assert pattern.may_overlap(a, b) or not by_force(a, b, universe)


def test_twin_a_naive_prefix_check_does_not_hold() -> None:
    def broken(pair: tuple[str, str]) -> bool:
        try:
            holds(naive_prefix, *pair)
        except AssertionError:
            return True
        return False

    one, other = find(some.tuples(PATTERN, PATTERN), broken, settings=settings(max_examples=2_000))
    assert naive_prefix(one, other) != by_force(one, other, PATHS)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("/r/src/**", "/r/src/a.py", True),
        ("/r/src/**", "/r/srcs/a.py", False),
        ("/r/**", "/r", True),
        ("/r/**/x.py", "/r/x.py", True),
        ("/r/*.py", "/r/test_*", True),
        ("/r/*.py", "/r/*.md", False),
        ("/r/*.py", "/r/a/b.py", False),
        ("/r/a*", "/r/*b", True),
        ("/r/a/**", "/r/**/b", True),
        ("/r/[a-f]*", "/r/[g-z]*", False),
        ("/r/[!a]*", "/r/a*", False),
        ("/r/[[]id].tsx", "/r/[id].tsx", False),
        ("/r/é*", "/r/?", True),
        ("/r/**/a/**", "/r/b", False),
        ("/r/[]]", "/r/]", True),
        ("/r/[+-9]", "/r/0", True),
    ],
)
def test_known_pairs(one: str, other: str, expected: bool) -> None:
    assert pattern.overlap(one, other) is expected
    assert pattern.overlap(other, one) is expected


def test_a_literal_matches_itself_alone() -> None:
    path = "/r/[id]/*?.tsx"
    assert pattern.matches(pattern.literal(path), path)
    assert not pattern.matches(pattern.literal(path), "/r/i/ab.tsx")
    assert pattern.matches("/r/*/**", path)


@pytest.mark.parametrize("text", ["/a/[b", "/a/[]", "/a/[z-a]", "/a/[^a]", "/a/[b/c]"])
def test_a_malformed_bracket_is_said(text: str) -> None:
    with pytest.raises(pattern.Malformed):
        pattern.parse(text)


def test_too_many_states_count_as_a_conflict() -> None:
    one = "/" + "*a" * 120 + "x"
    other = "/" + "*b" * 120 + "y"
    assert pattern.overlap(one, other)
    assert not pattern.overlap("/" + "*a" * 20 + "x", "/" + "*b" * 20 + "y")
