"""Path patterns: whether two of them can match one path, decided exactly.

A path is a list of segments, each of at least one character. `*` and `?` stay within a segment,
`[a-z]` and `[!a-z]` are one character, and `**` as a whole segment is any number of segments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

STATES = 10_000
"""Beyond so many states of both automata the answer is the safe one: they may meet."""
CACHED = 512
"""Patterns, segments and pairs that are remembered; a long path takes kilobytes."""
WILD = re.compile(r"[*?\[]")
_LAST = 0x10FFFF
_SLASH = 0x2F

Ranges = tuple[tuple[int, int], ...]
"""Code points from and to, in order and apart from each other; `/` is in none."""
_ANY: Ranges = ((0, _SLASH - 1), (_SLASH + 1, _LAST))
State = tuple[int, int, bool]


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: a set of characters each, None where any text may stand."""

    tokens: tuple[Ranges | None, ...]
    deep: bool = False
    """It is `**`."""
    text: str = ""
    """What it matches where it has no wildcard."""


class Malformed(ValueError):
    """The pattern cannot be read; close every bracket: `[abc]`, `[a-z]`, `[!a]`."""


class _TooMany(Exception):
    """The automata have more states than are looked at."""


def is_pattern(path: str) -> bool:
    """Whether it has wildcards."""
    return WILD.search(path) is not None


def literal(path: str) -> str:
    """The pattern that matches this path alone."""
    return WILD.sub(lambda found: f"[{found[0]}]", path)


@lru_cache(maxsize=CACHED)
def parse(path: str) -> tuple[Segment, ...]:
    """Read a pattern; raises Malformed."""
    return tuple(_segment(part) for part in path.split("/") if part)


def may_overlap(one: str, other: str) -> bool:
    """A quick look at what stands before the wildcards; False is certain, True is not."""
    first, second = (WILD.split(each, maxsplit=1)[0] for each in (one, other))
    return first.startswith(second) or second.startswith(first)


def overlap(one: str, other: str) -> bool:
    """Whether some path matches both; True also where that is too much work to find out."""
    if one == other:
        return True
    if not is_pattern(one) and not is_pattern(other):
        return False
    return _overlap(one, other)


def matches(pattern: str, path: str) -> bool:
    """Whether a path, taken as it is, is matched."""
    return overlap(pattern, literal(path))


@lru_cache(maxsize=CACHED)
def _overlap(one: str, other: str) -> bool:
    budget = _Budget()
    try:
        return _paths_meet(parse(one), parse(other), budget)
    except _TooMany:
        return True


class _Budget:
    """Counts states over all automata of one question."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = STATES

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooMany


def _paths_meet(one: Sequence[Segment], other: Sequence[Segment], budget: _Budget) -> bool:
    def following(state: State) -> Iterable[State]:
        left, right, _ = state
        a = one[left] if left < len(one) else None
        b = other[right] if right < len(other) else None
        if a is not None and a.deep:
            yield left + 1, right, True
        if b is not None and b.deep:
            yield left, right + 1, True
        if a is not None and b is not None and _segments_meet(a, b, budget):
            yield left + (not a.deep), right + (not b.deep), True

    return _reaches((len(one), len(other), True), (0, 0, True), following, budget)


def _segments_meet(one: Segment, other: Segment, budget: _Budget) -> bool:
    if one.text and other.text:
        return one.text == other.text

    def following(state: State) -> Iterable[State]:
        left, right, some = state
        a_there, b_there = left < len(one.tokens), right < len(other.tokens)
        a = one.tokens[left] if a_there else None
        b = other.tokens[right] if b_there else None
        if a_there and a is None:
            yield left + 1, right, some
        if b_there and b is None:
            yield left, right + 1, some
        if a_there and b_there and _share(_ANY if a is None else a, _ANY if b is None else b):
            yield left + (a is not None), right + (b is not None), True

    return _reaches((len(one.tokens), len(other.tokens), True), (0, 0, False), following, budget)


def _reaches(
    goal: State, start: State, following: Callable[[State], Iterable[State]], budget: _Budget
) -> bool:
    seen, open_ = {start}, [start]
    while open_:
        state = open_.pop()
        if state == goal:
            return True
        budget.spend()
        fresh = [one for one in following(state) if one not in seen]
        seen.update(fresh)
        open_.extend(fresh)
    return False


def _share(one: Ranges, other: Ranges) -> bool:
    return any(max(a, c) <= min(b, d) for a, b in one for c, d in other)


@lru_cache(maxsize=CACHED)
def _segment(text: str) -> Segment:
    if text == "**":
        return Segment((None,), deep=True)
    tokens: list[Ranges | None] = []
    at = 0
    while at < len(text):
        token, at = _token(text, at)
        if token is not None or not tokens or tokens[-1] is not None:
            tokens.append(token)
    return Segment(tuple(tokens), text="" if is_pattern(text) else text)


def _token(text: str, at: int) -> tuple[Ranges | None, int]:
    match text[at]:
        case "*":
            return None, at + 1
        case "?":
            return _ANY, at + 1
        case "[":
            return _class(text, at + 1)
    return ((ord(text[at]), ord(text[at])),), at + 1


def _class(text: str, at: int) -> tuple[Ranges, int]:
    """A bracket's set of characters; `at` is behind the opening bracket."""
    inverse = text[at : at + 1] == "!"
    start = at + inverse
    # A closing bracket that comes first is one of the characters.
    end = text.find("]", start + 1)
    if end < 0 or text[at : at + 1] == "^":
        raise Malformed(text)
    found: list[tuple[int, int]] = []
    while start < end:
        last = start
        if text[start + 1 : start + 2] == "-" and start + 2 < end:
            last = start + 2
        if text[last] < text[start]:
            raise Malformed(text)
        found.append((ord(text[start]), ord(text[last])))
        start = last + 1
    chosen = _without_slash(_merged(found))
    return (_without_slash(_complement(chosen)) if inverse else chosen), end + 1


def _merged(found: Iterable[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(found):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    edges = [-1, *(edge for low, high in ranges for edge in (low, high)), _LAST + 1]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return tuple((low + 1, high - 1) for low, high in gaps if low + 1 <= high - 1)


def _without_slash(ranges: Ranges) -> Ranges:
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        parts = (low, min(high, _SLASH - 1)), (max(low, _SLASH + 1), high)
        kept.extend((a, b) for a, b in parts if a <= b)
    return tuple(kept)
