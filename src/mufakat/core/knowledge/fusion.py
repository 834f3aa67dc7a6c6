"""What nearness of meaning adds to the score of words: a linear sum, never a fusion of ranks.

Cosines of small models are crowded; what counts is how far one stands out among all of its project.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import query

NEAREST = 60
"""Turns that are looked at for their nearness alone."""
STANDS_OUT = 2.0
"""Deviations above the mean from which on nearness alone makes a candidate."""
QUESTION_CHARS = 2_000
_WORD = re.compile(r"[^\W_]+(?:['’]s\b)?")


@dataclass(frozen=True, slots=True)
class Weights:
    """What a deviation above the mean counts, beside the words' sum of turn_ranking.

    Fitted on LoCoMo's conversations 0, 2, 4, 6 and 8 with all-MiniLM-L6-v2 and rounded to 0.05;
    the words' window holds the turn before already. `scripts/bench memory` reports on the others.
    """

    own: float = 0.25
    previous: float = 0.0
    next: float = 0.05


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and deviation of a question's cosines over one project."""

    mean: float
    deviation: float

    def above(self, cosine: float | None) -> float:
        """Deviations above the mean; 0 for a turn without a vector."""
        if cosine is None or not self.deviation:
            return 0.0
        return (cosine - self.mean) / self.deviation


def beside(turns: Collection[int]) -> set[int]:
    """The turns whose cosines are needed to score these."""
    return {turn + step for turn in turns for step in (-1, 0, 1)}


def added(
    turns: Collection[int],
    cosines: Mapping[int, float],
    spread: Spread,
    *,
    weights: Weights = WEIGHTS,
) -> dict[int, float]:
    """What to add to the score of each turn, for its own nearness and for its neighbours'."""
    z = {turn: spread.above(cosines.get(turn)) for turn in beside(turns)}
    return {
        turn: weights.own * z[turn] + weights.previous * z[turn - 1] + weights.next * z[turn + 1]
        for turn in turns
    }


def candidates(nearest: Sequence[int], cosines: Mapping[int, float], spread: Spread) -> list[int]:
    """Of the nearest turns those that stand out."""
    return [turn for turn in nearest if spread.above(cosines.get(turn)) >= STANDS_OUT]


def without_names(text: str, speakers: Sequence[str]) -> str:
    """A question as it is embedded: a name in it would find greetings.

    Who is named is compared with who spoke, by the ranking of words. A question that consists of
    names alone stays as it is.
    """
    read = text[:QUESTION_CHARS]
    called = {name for identity in speakers for name in query.names(identity)}
    rest = _WORD.sub(lambda found: "" if _bare(found[0]) in called else found[0], read)
    return " ".join(rest.split()) if re.search(r"\w", rest) else read


def _bare(word: str) -> str:
    return re.split(r"['’]", word, maxsplit=1)[0].lower()
