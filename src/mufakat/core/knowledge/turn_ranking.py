"""Which turns answer a question: linear sums of normalised scores, never a fusion of ranks.

A turn is judged with the one before and after it, with what its conversation is about, by who is
speaking and when, and by whether it has the form of an answer.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterable, Mapping, Sequence, Set
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
KEPT = 300
"""Turns that are judged with those beside them: those in which most of the question occurs."""
WITH_SESSION = 0.5
"""What its conversation counts there beside a turn."""
NEAR_DAYS = 4
BEST = 80
"""Turns that are looked at for their words alone."""
BEST_SESSIONS, SHORT_SESSION = 8, 40
"""Conversations of which every turn is looked at, if they are no longer than this."""
DATED_SESSIONS = 12
"""As many again for each date that the question names."""
LONG_TERMS = 150
"""Terms beyond which a longer turn is no better."""
_LONGEST = math.log1p(LONG_TERMS)
_ASKS = int(Mark.ASKS)


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
    """BM25 over the turn and its neighbours, as if all were of the same length; of `KEPT` turns."""
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
    rare: list[tuple[str, float, Mapping[int, int]]] = []
    common: list[tuple[str, float, Sequence[int]]] = []
    deep = 0
    for term, worth in worths:
        places = entries.get(term, ())
        if among is not None:
            places = [one for one in places if one >> (posting.LANE_SHIFT + 1) in among]
        if deep and deep + len(places) > DEEP:
            common.append((term, worth, places))
        else:
            # The newest are at the end.
            rare.append((term, worth, _occurs(found, places[-DEEP:], worth)))
            deep += len(places)
    wide = _keep(found)
    for term, worth, counts in rare:
        _score(found, counts, wide, term=term, worth=worth)
    _tell_apart(found, common)
    return found


def _occurs(found: Matches, places: Sequence[int], worth: float) -> dict[int, int]:
    """How often a term occurs in each turn; counted for the turns and their conversations."""
    shift, most, alone = posting.TURN_SHIFT, posting.MOST_COUNTED, found.alone
    get = alone.get
    counts = {one >> shift: one & most for one in places}
    for turn in counts:
        alone[turn] = get(turn, 0.0) + worth
    _sessions(found, places, worth)
    return counts


def _keep(found: Matches) -> set[int]:
    """Choose the turns to judge; answers these and all whose words count for them."""
    shift, about = posting.POSITION_BITS + 1, found.sessions
    worths = {
        turn: worth + WITH_SESSION * about[turn >> shift] for turn, worth in found.alone.items()
    }
    kept = _best(worths, KEPT)
    found.window.update(
        dict.fromkeys((at for turn in kept for at in (turn - 1, turn, turn + 1)), 0.0)
    )
    return {at for turn in found.window for at in (turn - 1, turn, turn + 1)}


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


def _tell_apart(found: Matches, common: Sequence[tuple[str, float, Sequence[int]]]) -> None:
    """Count common terms' occurrences for turns alone that other terms have found."""
    if not common:
        return
    begins = [turn << posting.COUNT_BITS for turn in found.window]
    possible = {begin | count for begin in begins for count in range(1, posting.MOST_COUNTED + 1)}
    for term, worth, places in common:
        hits = possible.intersection(places)
        counts = {one >> posting.TURN_SHIFT: one & posting.MOST_COUNTED for one in hits}
        for turn in found.alone.keys() & counts.keys():
            found.alone[turn] += worth
        _score(found, counts, counts.keys(), term=term, worth=worth)
        _sessions(found, hits, worth)


def _score(
    found: Matches,
    counts: Mapping[int, int],
    wide: Set[int],
    *,
    term: str,
    worth: float,
) -> None:
    """Count one term's occurrences for the turns and for their neighbours."""
    window, covered = found.window, found.covered
    weighted: dict[int, float] = {}
    get, cover, most = weighted.get, covered.get, worth * (SATURATION + 1)
    for turn in counts.keys() & wide:
        count = counts[turn]
        if turn in window:
            weighted[turn] = get(turn, 0.0) + count
        if turn + 1 in window:
            weighted[turn + 1] = get(turn + 1, 0.0) + PREVIOUS * count
        if turn - 1 in window:
            weighted[turn - 1] = get(turn - 1, 0.0) + NEXT * count
    for turn, sum_ in weighted.items():
        window[turn] += most * sum_ / (sum_ + SATURATION)
        covered[turn] = cover(turn, 0.0) + worth
    found.counts.append((term, worth, weighted))


def _sessions(found: Matches, places: Iterable[int], worth: float) -> None:
    shift = posting.LANE_SHIFT + 1
    for session in {one >> shift for one in places}:
        found.sessions[session] = found.sessions.get(session, 0.0) + worth


def candidates(found: Matches, sizes: Mapping[int, int]) -> list[int]:
    """Turns to look at: those that words put first with their neighbours, and short conversations.

    `sizes` tells how many turns of talk those conversations have that may be looked at as a whole.
    """
    scores = _by_words(found, found.window, WEIGHTS)
    best = _best(scores, BEST)
    chosen = dict.fromkeys(best)
    for turn in best:
        chosen.update(dict.fromkeys((turn - 1, turn + 1, turn + 2)))
    for session, size in sizes.items():
        if size <= SHORT_SESSION:
            first = posting.turn_of(session, posting.TALK, position=0)
            chosen.update(dict.fromkeys(range(first, first + size)))
    return list(chosen)


def _best(scores: Mapping[int, float], most: int) -> list[int]:
    """The `most` turns with the highest scores; of equals the later ones."""
    if len(scores) <= most:
        return list(scores)
    least = heapq.nlargest(most, scores.values())[-1]
    able = [turn for turn, score in scores.items() if score >= least]
    return sorted(able, key=lambda turn: (scores[turn], turn), reverse=True)[:most]


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
    also: Mapping[int, float] | None = None,
) -> list[Ranked]:
    """Order those of the candidates that are known, best first; of equals the later one.

    `also` are scores of another kind, added to those of the words.
    """
    forms = {turn: marks.split(one.marks) for turn, one in known.items()}
    by_words = _by_words(found, _windows(found, forms), weights)
    for turn, score in (also or {}).items():
        by_words[turn] += score
    form = _Form(question, found, weights)
    ranked = [
        Ranked(turn, _exact(score + form.of(turn, known[turn], forms)))
        for turn, score in by_words.items()
    ]
    return sorted(ranked, key=lambda one: (-one.score, -one.turn))


def _exact(score: float) -> float:
    """A score without what the order of its summing has left in it."""
    return round(score, 9)


def _windows(found: Matches, forms: Mapping[int, tuple[int, int]]) -> dict[int, float]:
    """BM25 over each turn and its neighbours."""
    own, mean = SATURATION * (1 - SHORTER), found.mean * (1 + PREVIOUS + NEXT)
    each = SATURATION * SHORTER / mean
    get, none = forms.get, (0, 0)
    limits = {
        turn: own
        + each * (length + PREVIOUS * get(turn - 1, none)[1] + NEXT * get(turn + 1, none)[1])
        for turn, (_, length) in forms.items()
    }
    windows = dict.fromkeys(forms, 0.0)
    for _, worth, counts in found.counts:
        most = worth * (SATURATION + 1)
        for turn in counts.keys() & limits.keys():
            count = counts[turn]
            windows[turn] += most * count / (count + limits[turn])
    return windows


def _by_words(found: Matches, windows: Mapping[int, float], weights: Weights) -> dict[int, float]:
    top = max(windows.values(), default=0.0) or 1.0
    about = max(found.sessions.values(), default=0.0) or 1.0
    worth = found.worth or 1.0
    sessions = {one: weights.session * sum_ / about for one, sum_ in found.sessions.items()}
    window, covered, before = weights.window / top, weights.covered / worth, weights.before / worth
    shift = posting.POSITION_BITS + 1
    cover, alone, session = found.covered.get, found.alone.get, sessions.get
    return {
        turn: window * score
        + covered * cover(turn, 0.0)
        + before * alone(turn - 2, 0.0)
        + session(turn >> shift, 0.0)
        for turn, score in windows.items()
    }


class _Form:
    """What a turn's form, speaker and time add for one question."""

    __slots__ = ("_alone", "_answer", "_dates", "_of_mark", "_speakers", "_weights")

    def __init__(self, question: Question, found: Matches, weights: Weights) -> None:
        wanted = int(question.wanted)
        worths = (
            (Mark.TIME & wanted, weights.when),
            (Mark.NUMBER & wanted, weights.number),
            (Mark.NAME & wanted, weights.name),
            (Mark.QUESTION, weights.asks),
        )
        self._of_mark = [(int(mark), worth) for mark, worth in worths if mark]
        self._alone = found.alone
        self._answer = weights.answer / (found.worth or 1.0)
        self._speakers, self._dates = question.speakers, question.dates
        self._weights = weights

    def of(self, turn: int, one: IndexedTurn, forms: Mapping[int, tuple[int, int]]) -> float:
        mark, length = forms[turn]
        score = self._weights.length * _long(length)
        for each, worth in self._of_mark:
            if mark & each:
                score += worth
        if one.speaker in self._speakers:
            score += self._weights.speaker
        before = forms.get(turn - 1)
        if before is not None and before[0] & _ASKS:
            score += self._answer * self._alone.get(turn - 1, 0.0)
        return score + self._by_date(one) if self._dates else score

    def _by_date(self, one: IndexedTurn) -> float:
        score = self._weights.date * any(date.fits(one.at) for date in self._dates)
        apart = [days for date in self._dates if (days := date.days_from(one.at)) is not None]
        if apart:
            score += self._weights.near * math.exp(-min(apart) / NEAR_DAYS)
        return score


def _long(length: int) -> float:
    """How long a turn is, from 0 to 1."""
    return math.log1p(min(length, LONG_TERMS)) / _LONGEST
