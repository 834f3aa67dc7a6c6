"""Choosing lines within a number of characters: what they are worth, and what is not yet said."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

NEWNESS = 0.35
"""Worth of a rare term that no chosen line has, beside the line's own worth."""
AGAIN = 0.4
"""What is left of that when a chosen line has the term already."""
PRICE = 0.3
"""How far length counts: 0 not at all, 1 in full."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to choose, with its price in characters."""

    terms: frozenset[str]
    worth: float
    chars: int


def choose(candidates: Sequence[Candidate], room: int) -> list[int]:
    """Places of the candidates that are chosen, the best first; together within `room`.

    Each one is judged anew beside those before it, so that nothing is said twice.
    """
    rarity = _rarity(candidates)
    seen: Counter[str] = Counter()
    chosen: list[int] = []
    queue = [(-_value(one, rarity, seen), at) for at, one in enumerate(candidates)]
    heapq.heapify(queue)
    while queue:
        promised, at = heapq.heappop(queue)
        one = candidates[at]
        if one.chars > room:
            continue
        value = _value(one, rarity, seen)
        if queue and (-value, at) > queue[0] and -value > promised:
            heapq.heappush(queue, (-value, at))
            continue
        chosen.append(at)
        room -= one.chars
        seen.update(one.terms)
    return chosen


def _rarity(candidates: Sequence[Candidate]) -> dict[str, float]:
    """Of each term between 0 and 1: 1 where one candidate alone has it."""
    counts = Counter(term for one in candidates for term in one.terms)
    most = math.log(1 + len(candidates)) or 1.0
    return {term: math.log(1 + len(candidates) / n) / most for term, n in counts.items()}


def _value(one: Candidate, rarity: dict[str, float], seen: Counter[str]) -> float:
    new = math.fsum(rarity[term] * AGAIN ** seen[term] for term in one.terms)
    return (one.worth + NEWNESS * new) / math.pow(max(1, one.chars), PRICE)
