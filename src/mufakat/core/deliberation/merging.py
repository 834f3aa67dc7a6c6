"""Merging: what the seats' blocks come to, by claim; the same in whatever order seats are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mufakat.core.deliberation import vendors
from mufakat.core.deliberation.position import Position, Vote


class Outcome(StrEnum):
    """What the table came to on a claim."""

    AGREED = "agreed"
    OPEN = "open"
    DISSENT = "dissent"


@dataclass(frozen=True, slots=True)
class Stated:
    """What one seat said in one round."""

    seat: str
    round: int
    position: Position | None
    """None where it gave no block that could be read: it is unstated."""


@dataclass(frozen=True, slots=True)
class Against:
    """A seat that does not agree, and why."""

    seat: str
    outcome: Outcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A claim, or an earlier decision that was voted on, and who stands where."""

    id: str
    text: str
    author: str
    """Letter of the seat; empty for an earlier decision."""
    outcome: Outcome
    agree: tuple[str, ...]
    against: tuple[Against, ...] = ()
    silent: tuple[str, ...] = ()
    """Seats that have said nothing about it."""


@dataclass(frozen=True, slots=True)
class Reopening:
    """Something settled that a seat has opened again, with its reason."""

    id: str
    seat: str
    round: int
    why: str


@dataclass(frozen=True, slots=True)
class Merged:
    """What a table stands at."""

    points: tuple[Point, ...] = ()
    unstated: tuple[str, ...] = ()
    """Seats that have never given a block."""
    new: tuple[str, ...] = ()
    """Claims that came in the last round."""
    reopened: tuple[Reopening, ...] = ()
    refused: tuple[Reopening, ...] = ()
    """Votes on something settled that gave no reason; they did not count."""
    withdrawn: tuple[str, ...] = ()
    """Claims that their own seat has taken back."""

    def of(self, outcome: Outcome) -> tuple[Point, ...]:
        """The points with an outcome."""
        return tuple(one for one in self.points if one.outcome is outcome)


@dataclass(slots=True)
class _Book:
    """Who stands where while rounds are read."""

    texts: dict[str, str]
    votes: dict[str, dict[str, Against | None]] = field(default_factory=dict)
    """By claim and seat; None is agreement."""
    authors: dict[str, str] = field(default_factory=dict)
    reopened: list[Reopening] = field(default_factory=list)
    refused: list[Reopening] = field(default_factory=list)


def merge(
    seats: Mapping[str, str],
    stated: Sequence[Stated],
    *,
    decisions: Mapping[str, str] | None = None,
    quorum: int | None = None,
) -> Merged:
    """Merge all that was said by the seats that take part; `seats` maps letters to vendors.

    A later word of a seat on a claim replaces its earlier one. `decisions` are texts of what was
    settled before this table, by id: each becomes a point when somebody votes on it.
    """
    needed = min(2, len(set(seats.values()))) if quorum is None else quorum
    heard = [one for one in stated if one.seat in seats]
    spoken = {one.seat for one in heard if one.position is not None}
    book = _Book(dict(decisions or {}))
    settled = frozenset(book.texts)
    last = max((one.round for one in heard), default=0)
    new: tuple[str, ...] = ()
    for round in range(1, last + 1):
        now = sorted((one for one in heard if one.round == round), key=lambda one: one.seat)
        new = _open_claims(book, now)
        for one in now:
            _count(book, one, settled)
        points = _points(book, seats, spoken, needed)
        settled |= {point.id for point in points if point.outcome is Outcome.AGREED}
    return Merged(
        points=tuple(_points(book, seats, spoken, needed)),
        unstated=tuple(sorted(set(seats) - spoken)),
        new=new,
        reopened=tuple(book.reopened),
        refused=tuple(book.refused),
        withdrawn=tuple(sorted(_withdrawn(book), key=_order)),
    )


def known(stated: Iterable[Stated]) -> dict[str, str]:
    """The text of every claim that was made, by id."""
    return {
        claim.id: claim.text
        for one in stated
        if one.position is not None
        for claim in one.position.claims
    }


def exhausted(merged: Merged, round: int) -> bool:
    """Whether a round brought nothing new to speak of, so that another one would not either."""
    return round > 1 and not merged.new


def _open_claims(book: _Book, now: Sequence[Stated]) -> tuple[str, ...]:
    """All claims of a round stand before any vote of it counts: seats speak at the same time."""
    new = []
    for one in now:
        for claim in one.position.claims if one.position else ():
            if claim.id not in book.texts:
                book.texts[claim.id] = claim.text
                book.authors[claim.id] = one.seat
                book.votes[claim.id] = {one.seat: None}
                new.append(claim.id)
    return tuple(sorted(new, key=_order))


def _count(book: _Book, one: Stated, settled: frozenset[str]) -> None:
    if one.position is None:
        return
    for id in one.position.agree:
        _vote(book, one.seat, id, None)
    for votes, outcome in (
        (one.position.open, Outcome.OPEN),
        (one.position.dissent, Outcome.DISSENT),
    ):
        for vote in votes:
            if vote.id in settled and not _reopens(book, one, vote):
                continue
            _vote(book, one.seat, vote.id, Against(one.seat, outcome, vote.why))


def _reopens(book: _Book, one: Stated, vote: Vote) -> bool:
    """Note that something settled is questioned; without a reason it stays as it is."""
    before = book.votes.get(vote.id, {}).get(one.seat)
    if before is not None:
        return True
    noted = Reopening(vote.id, one.seat, one.round, vote.why)
    (book.reopened if vote.why else book.refused).append(noted)
    return bool(vote.why)


def _vote(book: _Book, seat: str, id: str, word: Against | None) -> None:
    if id in book.texts:
        book.votes.setdefault(id, {})[seat] = word


def _withdrawn(book: _Book) -> list[str]:
    """Claims against which their own seat is, and for which nobody else is."""
    return [
        id
        for id, author in book.authors.items()
        if (own := book.votes[id].get(author)) is not None
        and own.outcome is Outcome.DISSENT
        and not any(word is None for word in book.votes[id].values())
    ]


def _points(book: _Book, seats: Mapping[str, str], spoken: set[str], needed: int) -> list[Point]:
    gone = set(_withdrawn(book))
    return [
        _point(book, id, seats, spoken, needed)
        for id in sorted(book.votes, key=_order)
        if id not in gone
    ]


def _point(book: _Book, id: str, seats: Mapping[str, str], spoken: set[str], needed: int) -> Point:
    votes = book.votes[id]
    agree = sorted(seat for seat, word in votes.items() if word is None)
    against = sorted((word for word in votes.values() if word), key=lambda word: word.seat)
    silent = tuple(sorted(set(seats) - set(votes)))
    # What was settled before the table needs nobody to agree again: silence leaves it so.
    earlier = id not in book.authors
    return Point(
        id,
        book.texts[id],
        book.authors.get(id, ""),
        _outcome(
            agree,
            against,
            earlier=earlier,
            missing=bool(spoken - set(votes)),
            most=2 * len(spoken) > len(seats),
            diverse=vendors.reached((seats[one] for one in agree), needed),
        ),
        tuple(agree),
        tuple(against),
        silent,
    )


def _outcome(
    agree: Sequence[str],
    against: Sequence[Against],
    *,
    earlier: bool,
    missing: bool,
    most: bool,
    diverse: bool,
) -> Outcome:
    if any(one.outcome is Outcome.DISSENT for one in against):
        return Outcome.DISSENT
    if against:
        return Outcome.OPEN
    if earlier:
        return Outcome.AGREED
    # Agreed takes two seats at least, of all that have spoken, and these are most of the table.
    settled = len(agree) > 1 and not missing and most and diverse
    return Outcome.AGREED if settled else Outcome.OPEN


def _order(id: str) -> tuple[str, int, str]:
    head, digits = id.rstrip("0123456789"), id[len(id.rstrip("0123456789")) :]
    return head, int(digits or 0), id
