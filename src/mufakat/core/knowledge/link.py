"""Links between conversations: how much an old one still weighs, and which may be worth one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.base import ConversationId, Millis
from mufakat.core.knowledge.words import STOP

HALF_LIFE_DAYS = 30.0
LEAST = 0.05
"""Weight below which a link by hand never falls: it was meant."""
DAY = 86_400_000
_WORD = re.compile(r"\w{3,40}")


@dataclass(frozen=True, slots=True)
class Link:
    """Whoever takes part in `conversation` may read `other`."""

    conversation: ConversationId
    other: ConversationId
    author: str
    at: Millis


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A conversation that is alike."""

    conversation: ConversationId
    score: float
    """0 to 1, less for an old one."""


def weight(at: Millis, now: Millis) -> float:
    """What is left of 1 after the time since: half of it every 30 days."""
    days = max(0, now - at) / DAY
    left: float = 0.5 ** (days / HALF_LIFE_DAYS)
    return max(LEAST, left)


def words(texts: Sequence[str]) -> Counter[str]:
    """How often each telling word occurs."""
    found = (word.lower() for text in texts for word in _WORD.findall(text))
    return Counter(word for word in found if word not in STOP)


def rank(
    about: Counter[str],
    others: Mapping[ConversationId, tuple[Counter[str], Millis]],
    now: Millis,
    *,
    limit: int,
) -> list[Suggestion]:
    """The conversations whose words are most alike, best first.

    A word counts for less the more conversations use it.
    """
    spread = Counter(word for known, _ in others.values() for word in known)
    spread.update(set(about))
    total = len(others) + 1
    rarity = {word: math.log(1 + total / count) for word, count in spread.items()}
    mine = _vector(about, rarity)
    scored = [
        Suggestion(id, _cosine(mine, _vector(known, rarity)) * weight(at, now))
        for id, (known, at) in others.items()
    ]
    best = sorted(scored, key=lambda one: (-one.score, one.conversation))
    return [one for one in best[:limit] if one.score >= LEAST]


def _vector(counts: Counter[str], rarity: Mapping[str, float]) -> dict[str, float]:
    return {word: (1 + math.log(count)) * rarity[word] for word, count in counts.items()}


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    if not a or not b:
        return 0.0
    shared = sum(value * b[word] for word, value in a.items() if word in b)
    return shared / (_length(a) * _length(b))


def _length(vector: Mapping[str, float]) -> float:
    return math.sqrt(sum(value * value for value in vector.values()))
