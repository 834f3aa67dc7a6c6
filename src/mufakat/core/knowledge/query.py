"""A question as it is asked of what was said: its terms, who and when it means, what it wants.

Terms are values, never a language: quotes, `-`, `/`, `@`, `#`, AND, OR and NOT mean nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import dates, marks, words
from mufakat.core.knowledge.dates import Date
from mufakat.core.knowledge.marks import Mark

MOST_CHARS = 4_000
"""Of a longer question only so much is read, and the answer says so."""
MOST_TERMS = 48
MOST_GRAMS = 24
MOST_DATES = 8


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for."""

    terms: tuple[str, ...]
    """Each once, in the order of the question."""
    grams: tuple[str, ...] = ()
    """Parts of names, for those of which only a piece is known."""
    speakers: frozenset[str] = frozenset()
    """Identities that it names: a field to compare, no words to look for."""
    dates: tuple[Date, ...] = ()
    wanted: Mark = Mark.NONE
    cut: bool = False
    """Whether it was too long to be read to its end."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not (self.terms or self.grams)


def parse(text: str, speakers: Sequence[str] = ()) -> Question:
    """Read a question; `speakers` are all identities that may be named in it."""
    read = text[:MOST_CHARS]
    called = _called(speakers)
    tokens = list(words.tokens(read))
    named = [token for token in tokens if token.lower() in called]
    rest = [token for token in tokens if token.lower() not in called]
    terms = _terms(rest) or _terms(named)
    return Question(
        tuple(terms)[:MOST_TERMS],
        tuple(_grams(rest))[:MOST_GRAMS],
        frozenset(one for token in named for one in called[token.lower()]),
        tuple(date for date, _ in dates.find(read))[:MOST_DATES],
        marks.of_question(read),
        len(text) > MOST_CHARS,
    )


def names(identity: str) -> Iterator[str]:
    """What one calls a speaker: the words of the identity in front of its host."""
    for token in words.tokens(identity.partition("@")[0]):
        if len(token) > 1:
            yield token.lower()


def _called(speakers: Sequence[str]) -> dict[str, list[str]]:
    called: dict[str, list[str]] = {}
    for identity in speakers:
        for name in names(identity):
            called.setdefault(name, []).append(identity)
    return called


def _terms(tokens: Sequence[str]) -> dict[str, None]:
    every = (term for token in tokens for term in words.of_token(token))
    return dict.fromkeys(term for term in every if not words.is_gram(term))


def _grams(tokens: Sequence[str]) -> dict[str, None]:
    found = (token for token in tokens if words.is_name(token))
    return dict.fromkeys(gram for token in found for gram in words.grams(token))
