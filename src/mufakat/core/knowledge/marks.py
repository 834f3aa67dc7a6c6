"""What kind of answer a turn can be, seen from its form: a time, a number, a name, a question."""

from __future__ import annotations

import re
from enum import IntFlag

_SEEN = 4_000
"""Characters of a turn that are looked at."""
LENGTH_SHIFT = 8
_MARKS = (1 << LENGTH_SHIFT) - 1
_LONGEST = (1 << 24) - 1


class Mark(IntFlag):
    """What stands in a turn; what a question asks for."""

    NONE = 0
    TIME = 1
    NUMBER = 2
    NAME = 4
    QUESTION = 8
    """It ends with a question."""
    ASKS = 16
    """There is a question somewhere in it."""


_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|last|next|ago|weeks?|weekends?|months?|years?|days?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|recently|soon|morning|\d{4})\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|few|several)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^.!?\s] [A-Z][a-z]+")
_WHEN = re.compile(
    r"\b(?:when|how long|(?:what|which) (?:date|month|year|week|day|time))\b", re.IGNORECASE
)
_MANY = re.compile(r"\bhow (?:many|much|often)\b", re.IGNORECASE)
_WHO = re.compile(r"\W*(?:where|who|which|what (?:is|was) the name)\b", re.IGNORECASE)


def of_turn(text: str) -> Mark:
    """What a turn has."""
    seen = text[:_SEEN]
    mark = Mark.NONE
    for one, pattern in ((Mark.TIME, _TIME), (Mark.NUMBER, _NUMBER), (Mark.NAME, _NAME)):
        if pattern.search(seen):
            mark |= one
    if "?" in seen:
        mark |= Mark.ASKS
    return mark | Mark.QUESTION if text.rstrip().endswith("?") else mark


def of_question(text: str) -> Mark:
    """What an answer must have."""
    wanted = Mark.NONE
    for one, pattern in ((Mark.TIME, _WHEN), (Mark.NUMBER, _MANY)):
        if pattern.search(text):
            wanted |= one
    return wanted | Mark.NAME if _WHO.match(text) else wanted


def pack(mark: Mark, length: int) -> int:
    """A turn's marks and its length in terms as one number."""
    return min(length, _LONGEST) << LENGTH_SHIFT | mark


def split(packed: int) -> tuple[int, int]:
    """What `pack` made, as plain numbers: a ranking looks at very many."""
    return packed & _MARKS, packed >> LENGTH_SHIFT


def unpack(packed: int) -> tuple[Mark, int]:
    """What `pack` made."""
    return Mark(packed & _MARKS), packed >> LENGTH_SHIFT
