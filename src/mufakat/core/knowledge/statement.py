"""Statements: what a sentence is worth remembering, told from its words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from mufakat.core.knowledge import contradiction, sentence, words
from mufakat.core.talk.message import Message

SHORTEST = 2
"""Terms of a statement; with fewer it says nothing."""
SIGNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "number": re.compile(r"\d"),
        "date": re.compile(
            r"\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past) (?:\w+ )?"
            r"(?:night|week|month|year|weekend|spring|summer|fall|autumn|winter|\w+day)|ago|since|"
            r"january|february|march|april|june|july|august|september|october|november|december|"
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekend|birthday|anniversary|\d{4}-\d\d)\b",
            re.I,
        ),
        "name": re.compile(r"(?<=[a-z,;:] )[\"“']?[A-Z][\w'-]+|(?<=\w )[\"“][A-Z]"),
        "decision": re.compile(
            r"\b(?:decid\w+|agreed?|chose|chosen|instead of|switch\w*|prefer\w*|settled|"
            r"must(?: not)?|never|always|do not|don't use|no longer|because|rule is|"
            r"approved|rejected)\b|"
            r"决定|改用|必须|不要|使用|결정|사용|memutuskan|jangan|harus|mesti",
            re.I,
        ),
        "commitment": re.compile(
            r"\b(?:i'll|i will|we'll|we will|i'm going to|going to|plan(?:s|ning|ned)? to|"
            r"promise\w*|todo|need to|next step|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|"
            r"want(?:s|ed)? to|hope to|looking (?:in)?to|thinking (?:about|of))\b",
            re.I,
        ),
        "path": re.compile(
            r"(?<![\w.-])[\w.-]+/[\w./-]+|`"
            r"|\b\w+\.(?:py|ts|js|go|rs|md|toml|ya?ml|json|sql|sh|c|h)\b"
        ),
        "error": re.compile(
            r"\b(?:\w*error|\w*exception|fail(?:s|ed|ure)?|broken|bug|crash\w*|traceback|"
            r"timed? ?out|exit code|regression|root cause)\b",
            re.I,
        ),
        "state": re.compile(
            r"\b(?:is|are|was|were|has|have|had|uses?|runs?|named?|called)\b", re.I
        ),
        "event": re.compile(
            r"\b(?:went|got|had|made|took|saw|met|did|bought|won|lost|found|gave|\w{3,}ed)\b",
            re.I,
        ),
        "own": re.compile(r"\b(?:i|my|i've|i'm|we|our|we've|we're)\b", re.I),
        "list": re.compile(r"\w, \w+(?:, | and | or )"),
        "quoted": re.compile(r"[\"“][^\"”]{2,60}[\"”]"),
        "question": re.compile(r"\?\s*$"),
        "talk": re.compile(
            r"^\W*(?:hey|hi|hello|thanks?|thank you|wow|oh|yeah|yep|cool|great|awesome|amazing|"
            r"nice|congrat\w*|good (?:morning|luck|to)|bye|see you|take care|sounds?|"
            r"that(?:'s| is| sounds)|glad|sure|ok(?:ay)?|absolutely|definitely|keep|"
            r"you(?:'re| are)|so (?:glad|happy|cool)|i agree)\b",
            re.I,
        ),
        "exclaimed": re.compile(r"!\s*$"),
    }
)
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "number": 1.0,
        "date": 1.5,
        "name": 1.0,
        "decision": 1.5,
        "commitment": 0.8,
        "path": 1.8,
        "error": 1.8,
        "state": 0.2,
        "event": 0.6,
        "own": 0.8,
        "list": 0.5,
        "quoted": 1.4,
        "question": -1.5,
        "talk": -1.0,
        "exclaimed": -0.3,
    }
)
BASE = 0.8
PER_TERM, TERMS = 0.12, 10
STANDING = 1.2
"""Worth of telling how something is, so that it can be told when that changes."""
LEAST = 0.5
"""Worth below which a sentence is small talk and never kept."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a message."""

    message: Message
    text: str
    terms: frozenset[str]
    worth: float


def worth(text: str, terms: int, weights: Mapping[str, float] = WEIGHTS) -> float:
    """What a sentence is worth beside others; below LEAST it is small talk."""
    signs = sum(weights[name] for name, sign in SIGNS.items() if sign.search(text))
    return BASE + PER_TERM * min(terms, TERMS) + signs


def of(message: Message) -> Iterator[Statement]:
    """The statements of a message that say something, in their order."""
    for text in sentence.split(message.text):
        terms = vocabulary(text)
        value = worth(text, len(terms)) + (STANDING if _stands(text) else 0.0)
        if len(terms) >= SHORTEST and value >= LEAST:
            yield Statement(message, text, terms, value)


def _stands(text: str) -> bool:
    claim = contradiction.claim(text)
    return claim is not None and bool(claim.about and claim.values) and not claim.own


@lru_cache(maxsize=4_096)
def vocabulary(text: str) -> frozenset[str]:
    """The terms of a text, without the parts that only serve to find names."""
    return frozenset(term for term in words.terms(text) if not words.is_gram(term))


def all_of(messages: Sequence[Message]) -> list[Statement]:
    """The statements of several messages."""
    return [one for message in messages for one in of(message)]
