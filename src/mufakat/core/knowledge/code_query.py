"""A question about code: its terms, the identifiers it names, and what kind of question it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import code_words

LONGEST = 4_000
"""Characters of a query that are looked at: a commit message, a trace, not a file."""
MOST_TERMS = 64
_STOP_WORDS = """
a about all also an and any are as at be been but by can class code could did do does doing done
each etc every find for from function get give gets given has have how i if in into is it its just
like make makes may me method more my need no not of on one or our out over please should show so
some such than that the their them then there these they this those through to up us use used uses
using was we what when where which while who why will with within without work works would you
your implementation implement implemented implements via between
"""
_STOP = frozenset(_STOP_WORDS.split())
_SYMBOL = re.compile(r"\S+")
_TRAILER = re.compile(
    r"^[ \t]*(?:Signed-off|Co-authored|Reviewed|Acked|Tested|Reported|Suggested|Approved)-by:[^\n]*"
    r"|^[ \t]*(?:Change-Id|git-svn-id|PiperOrigin-RevId|Differential Revision):[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
"""A line of a commit's message that is about people and tools."""
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w.-]++|https?://\S++")
_PATH = re.compile(r"[\w.@+-]++(?:/[\w.@+-]++)*+")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
TITLE = 2.0
"""What a word of the first line counts beside one of those below it."""
MOST_PATHS = 40
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_[A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Query:
    """A question in the words of the index."""

    terms: tuple[tuple[str, float], ...]
    """Term and weight: how often it is named, more where it is part of an identifier."""
    names: tuple[tuple[str, bool], ...]
    """Whole words, lower case without underscores, and whether each looks like an identifier."""
    symbol: bool
    """Whether the question is but the name of something."""
    paths: tuple[str, ...] = ()
    """What looks like the path of a file, or the end of one."""

    @property
    def empty(self) -> bool:
        return not self.terms


def parse(text: str) -> Query:
    """Read a question; every character is a word or a space, nothing in it is a command."""
    text = text[:LONGEST].strip()
    symbol = _is_symbol(text)
    if not symbol:
        text = _ADDRESS.sub(" ", _TRAILER.sub("", text)).strip()
    found = [word for word in code_words.WORD.findall(text) if len(word) > 1 or symbol]
    kept = [word for word in found if word.lower() not in _STOP] or found
    return Query(_terms(kept, _title(text)), _names(kept, text, symbol), symbol, _paths(text))


def _title(text: str) -> frozenset[str]:
    """The words of a first line that others explain."""
    first, _, others = text.partition("\n")
    return frozenset(code_words.WORD.findall(first)) if others.strip() else frozenset()


def _terms(words: Sequence[str], title: frozenset[str]) -> tuple[tuple[str, float], ...]:
    forms = code_words.Terms()
    weights: dict[str, float] = {}
    for word in words:
        for term in forms[word]:
            weights[term] = weights.get(term, 0.0) + (TITLE if word in title else 1.0)
    return tuple(list(weights.items())[:MOST_TERMS])


def _names(words: Sequence[str], text: str, symbol: bool) -> tuple[tuple[str, bool], ...]:
    quoted = {word for part in _QUOTED.findall(text) for word in code_words.WORD.findall(part)}
    names: dict[str, bool] = {}
    for word in words:
        if len(word) > 2:
            sure = symbol or word in quoted or bool(_CAMEL.search(word))
            names[_name(word)] = sure or names.get(_name(word), False)
    return tuple(names.items())


def _paths(text: str) -> tuple[str, ...]:
    named = (one.strip(".") for one in _PATH.findall(text))
    return tuple(dict.fromkeys(one for one in named if "." in one or "/" in one))[:MOST_PATHS]


def _is_symbol(text: str) -> bool:
    return bool(_SYMBOL.fullmatch(text)) and len(text) <= code_words.LONGEST_WORD * 2


def _name(word: str) -> str:
    return word.replace("_", "").lower()
