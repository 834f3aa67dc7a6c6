"""Which turns answer a question: linear sums of normalised scores, never a fusion of ranks.

A turn is judged with the one before and after it, with what its conversation is about, by who is
speaking and when, and by whether it has the form of an answer.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from mufakat.core.knowledge import marks, posting
from mufakat.core.knowledge.indexing import IndexedTurn
from mufakat.core.knowledge.marks import Mark
from mufakat.core.knowledge.query import Question

PREVIOUS, NEXT = 0.6, 0.3
"""What the turn before and the turn after count beside a turn itself."""
SATURATION = 1.2
"""BM25's k1."""
SHORTER = 0.75
"""BM25's b: how much a longer window is held against a turn."""
DEEP = 1_500
"""Occurrences that make candidates; commoner terms only tell these apart."""
NEAR_DAYS = 4
BEST = 80
"""Turns that are looked at for their words alone."""
BEST_SESSIONS, SHORT_SESSION = 8, 40
"""Conversations of which every turn is looked at, if they are no longer than this."""
DATED_SESSIONS = 12
"""As many again for each date that the question names."""
LONG_TERMS = 150
"""Terms beyond which a longer turn is no better."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of the sum counts.

    Fitted with a listwise loss on LoCoMo's conversations 0, 2, 4, 6 and 8 and rounded to 0.05;
    `scripts/bench memory` reports on the other five.
    """

    window: float = 1.0
    covered: float = 0.7
    before: float = 0.5
    session: float = 0.7
    speaker: float = 0.8
    date: float = 0.9
    near: float = 0.55
    when: float = 0.6
    number: float = 0.15
    name: float = 0.35
    asks: float = -0.2
    answer: float = 0.3
    length: float = 0.85


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the terms of a question occur; numbers of turns to sums over terms."""

    window: dict[int, float] = field(default_factory=dict)
    """BM25 over the turn and its neighbours, as if all were of the same length."""
    counts: list[tuple[str, float, Mapping[int, float]]] = field(default_factory=list)
    """Of each term its worth, and how often it occurs in the turn and its neighbours."""
    covered: dict[int, float] = field(default_factory=dict)
    """Worth of the terms that occur in the turn or beside it."""
    alone: dict[int, float] = field(default_factory=dict)
    """Worth of those that occur in the turn itself."""
    sessions: dict[int, float] = field(default_factory=dict)
    """Worth of those that occur in its conversation, by the conversation's number."""
    worth: float = 0.0
    """Of all terms of the question."""
    mean: float = 1.0
    """Length of a turn, in terms."""
    near: set[int] = field(default_factory=set)
    """Every entry that the turns found by rarer terms can have."""

    def possible(self) -> set[int]:
        """The entries by which a common term tells apart what was found; made once."""
        if not self.near:
            for turn in self.window:
                self.near.update(posting.entries(turn))
        return self.near


@dataclass(frozen=True, slots=True)
class Ranked:
    """A turn with its score, not bounded."""

    turn: int
    score: float


def match(
    question: Question,
    entries: Mapping[str, Sequence[int]],
    *,
    turns: int,
    mean: float = 1.0,
    among: Container[int] | None = None,
) -> Matches:
    """Find the turns that a question's terms occur in, the rarest terms first.

    `turns` is how many there are in all and `mean` their mean length; `among` are the
    conversations to look in, by number.
    """
    worths = _worths(question, entries, turns)
    found = Matches(worth=sum(worth for _, worth in worths), mean=mean)
    deep = 0
    for term, worth in worths:
        places = entries.get(term, ())
        if among is not None:
            places = [one for one in places if one >> (posting.LANE_SHIFT + 1) in among]
        if deep and deep + len(places) > DEEP:
            _tell_apart(found, places, term=term, worth=worth)
        else:
            # The newest are at the end.
            _add(found, places[-DEEP:], term=term, worth=worth)
            deep += len(places)
    return found


def _worths(
    question: Question, entries: Mapping[str, Sequence[int]], turns: int
) -> list[tuple[str, float]]:
    """Terms with their inverse document frequency; those nobody said are worth the most."""
    share = 1 / max(1, len(question.grams))
    parts = [(term, 1.0) for term in question.terms] + [(gram, share) for gram in question.grams]
    worths = []
    for term, part in parts:
        seen = len(entries.get(term, ()))
        worths.append((term, part * math.log(1 + (max(turns, seen) - seen + 0.5) / (seen + 0.5))))
    return sorted(worths, key=lambda pair: (len(entries.get(pair[0], ())), pair[0]))


def _add(found: Matches, places: Sequence[int], *, term: str, worth: float) -> None:
    """Count one term's occurrences for the turns and for their neighbours."""
    weighted: dict[int, float] = {}
    get = weighted.get
    alone = found.alone
    for one in places:
        turn, count = one >> posting.TURN_SHIFT, one & posting.MOST_COUNTED
        weighted[turn] = get(turn, 0.0) + count
        weighted[turn + 1] = get(turn + 1, 0.0) + PREVIOUS * count
        weighted[turn - 1] = get(turn - 1, 0.0) + NEXT * count
        alone[turn] = alone.get(turn, 0.0) + worth
    _score(found, weighted, term=term, worth=worth)
    _sessions(found, places, worth)


def _tell_apart(found: Matches, places: Sequence[int], *, term: str, worth: float) -> None:
    """Count a common term's occurrences for turns alone that other terms have found."""
    hits = found.possible().intersection(places)
    counts = {one >> posting.TURN_SHIFT: one & posting.MOST_COUNTED for one in hits}
    weighted: dict[int, float] = {}
    for turn, count in counts.items():
        for at, part in ((turn, 1.0), (turn + 1, PREVIOUS), (turn - 1, NEXT)):
            if at in found.window:
                weighted[at] = weighted.get(at, 0.0) + part * count
    for turn in found.alone.keys() & counts.keys():
        found.alone[turn] += worth
    _score(found, weighted, term=term, worth=worth)
    _sessions(found, list(hits), worth)


def _score(found: Matches, weighted: Mapping[int, float], *, term: str, worth: float) -> None:
    window, covered = found.window, found.covered
    found.counts.append((term, worth, weighted))
    for turn, count in weighted.items():
        saturated = worth * count * (SATURATION + 1) / (count + SATURATION)
        window[turn] = window.get(turn, 0.0) + saturated
        covered[turn] = covered.get(turn, 0.0) + worth


def _sessions(found: Matches, places: Sequence[int], worth: float) -> None:
    shift = posting.LANE_SHIFT + 1
    for session in {one >> shift for one in places}:
        found.sessions[session] = found.sessions.get(session, 0.0) + worth


def candidates(found: Matches, sizes: Mapping[int, int]) -> list[int]:
    """Turns to look at: those that words put first with their neighbours, and short conversations.

    `sizes` tells how many turns of talk those conversations have that may be looked at as a whole.
    """
    scores = _by_words(found, found.window, WEIGHTS)
    best = heapq.nlargest(BEST, scores, key=lambda turn: (scores[turn], turn))
    chosen = dict.fromkeys(best)
    for turn in best:
        chosen.update(dict.fromkeys((turn - 1, turn + 1, turn + 2)))
    for session, size in sizes.items():
        if size <= SHORT_SESSION:
            first = posting.turn_of(session, posting.TALK, position=0)
            chosen.update(dict.fromkeys(range(first, first + size)))
    return list(chosen)


def sessions(found: Matches) -> list[int]:
    """The conversations that are most about the question, by their numbers."""
    about = found.sessions
    return heapq.nlargest(BEST_SESSIONS, about, key=lambda one: (about[one], one))


def said(found: Matches, turn: int) -> list[str]:
    """The terms that were found in a turn or beside it, those of most worth first."""
    return [term for term, _, counts in found.counts if counts.get(turn)]


def rank(
    question: Question,
    found: Matches,
    known: Mapping[int, IndexedTurn],
    *,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Order those of the candidates that are known, best first; of equals the later one."""
    lengths = {turn: marks.unpack(one.marks)[1] for turn, one in known.items()}
    windows = {turn: _window(found, lengths, turn) for turn in lengths}
    by_words = _by_words(found, windows, weights)
    ranked = [
        Ranked(turn, _exact(score + _by_form(question, found, known, turn=turn, weights=weights)))
        for turn, score in by_words.items()
    ]
    return sorted(ranked, key=lambda one: (-one.score, -one.turn))


def _exact(score: float) -> float:
    """A score without what the order of its summing has left in it."""
    return round(score, 9)


def _window(found: Matches, lengths: Mapping[int, int], turn: int) -> float:
    """BM25 over a turn and its neighbours."""
    own, before, after = (lengths.get(turn + step, 0) for step in (0, -1, 1))
    relative = (own + PREVIOUS * before + NEXT * after) / (found.mean * (1 + PREVIOUS + NEXT))
    limit = SATURATION * (1 - SHORTER + SHORTER * relative)
    score = 0.0
    for _, worth, counts in found.counts:
        count = counts.get(turn)
        if count:
            score += worth * count * (SATURATION + 1) / (count + limit)
    return score


def _by_words(found: Matches, windows: Mapping[int, float], weights: Weights) -> dict[int, float]:
    top = max(windows.values(), default=0.0) or 1.0
    about = max(found.sessions.values(), default=0.0) or 1.0
    worth = found.worth or 1.0
    sessions = {one: weights.session * sum_ / about for one, sum_ in found.sessions.items()}
    window, covered, before = weights.window / top, weights.covered / worth, weights.before / worth
    shift = posting.POSITION_BITS + 1
    alone = found.alone.get
    return {
        turn: window * score
        + covered * found.covered.get(turn, 0.0)
        + before * alone(turn - 2, 0.0)
        + sessions.get(turn >> shift, 0.0)
        for turn, score in windows.items()
    }


def _by_form(
    question: Question,
    found: Matches,
    known: Mapping[int, IndexedTurn],
    *,
    turn: int,
    weights: Weights,
) -> float:
    one = known[turn]
    mark, length = marks.unpack(one.marks)
    has = mark & question.wanted
    score = weights.length * math.log1p(min(length, LONG_TERMS)) / math.log1p(LONG_TERMS)
    score += weights.when * (Mark.TIME in has) + weights.number * (Mark.NUMBER in has)
    score += weights.name * (Mark.NAME in has) + weights.asks * (Mark.QUESTION in mark)
    if one.speaker in question.speakers:
        score += weights.speaker
    before = known.get(turn - 1)
    if before is not None and Mark.ASKS in marks.unpack(before.marks)[0]:
        score += weights.answer * found.alone.get(turn - 1, 0.0) / (found.worth or 1.0)
    return score + _by_date(question, one, weights)


def _by_date(question: Question, one: IndexedTurn, weights: Weights) -> float:
    score = weights.date * any(date.fits(one.at) for date in question.dates)
    apart = [days for date in question.dates if (days := date.days_from(one.at)) is not None]
    if apart:
        score += weights.near * math.exp(-min(apart) / NEAR_DAYS)
    return score
