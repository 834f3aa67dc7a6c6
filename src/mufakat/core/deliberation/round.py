"""One round: who speaks next, what it hears, and whether another round follows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from mufakat.core.base import MessageId, RoundtableId, TurnId
from mufakat.core.deliberation import merging
from mufakat.core.deliberation.caps import Spent
from mufakat.core.deliberation.merging import Merged, Stated
from mufakat.core.deliberation.position import Position
from mufakat.core.deliberation.roundtable import Order, Roundtable

TRIES = 4
"""Turns that one seat gets in one round, corrections and what a crash cut off included."""


class Standing(StrEnum):
    """How a seat stands in a round."""

    ASKED = "asked"
    STATED = "stated"
    UNSTATED = "unstated"
    """It answered, and its block could not be read a second time either."""
    MISSING = "missing"
    """It gave no answer."""


@dataclass(frozen=True, slots=True)
class Word:
    """What a seat said in a round, and what that took."""

    roundtable: RoundtableId
    round: int
    seat: str
    standing: Standing = Standing.ASKED
    turns: tuple[TurnId, ...] = ()
    """Every turn it took, oldest first."""
    answer: MessageId | None = None
    position: Position | None = None
    problem: str = ""
    """Why there is no position, or what was wrong with the first block."""
    seen: int = 0
    """How many of its turns have ended and are counted."""
    chars: int = 0
    """Sent to its engine."""
    tokens: int = 0
    """In and out, as the engine counts them."""
    cost: float | None = None
    heard: int = 0
    """Number of the newest remark that it was told."""

    @property
    def final(self) -> bool:
        return self.standing is not Standing.ASKED


@dataclass(frozen=True, slots=True)
class Speak:
    """These seats are asked, at the same time."""

    seats: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Close:
    """Everybody has spoken."""


def next_step(table: Roundtable, answered: Collection[str]) -> Speak | Close:
    """Who is asked now, of the seats that have not answered in this round."""
    due = tuple(seat.label for seat in table.active if seat.label not in answered)
    if not due:
        return Close()
    together = table.order is Order.DELIBERATIVE or (table.blind and table.round == 1)
    return Speak(due if together else due[:1])


def heard_by(table: Roundtable, words: Sequence[Word], *, seat: str, round: int) -> list[Word]:
    """What a seat is told of what was said, in the order of rounds and seats.

    Its own words are among them: an engine that cannot resume has forgotten them.
    """
    within = table.order is Order.SEQUENTIAL and not (table.blind and round == 1)
    letters = [one.label for one in table.seats]
    told = [
        word
        for word in words
        if word.answer is not None
        and (
            word.round < round
            or (word.round == round and word.seat == seat)
            or (within and word.round == round and letters.index(word.seat) < letters.index(seat))
        )
        and (word.final or word.seat == seat)
    ]
    return sorted(told, key=lambda word: (word.round, letters.index(word.seat)))


def spent(words: Sequence[Word]) -> Spent:
    """What all words took together, time apart."""
    costs = [word.cost for word in words if word.cost is not None]
    return Spent(
        sum(word.chars for word in words),
        sum(word.tokens for word in words),
        sum(costs) if costs else None,
    )


def stated(words: Sequence[Word]) -> list[Stated]:
    """Words as merging takes them; a seat that gave no answer at all has not taken part."""
    return [
        Stated(word.seat, word.round, word.position)
        for word in words
        if word.standing in {Standing.STATED, Standing.UNSTATED}
    ]


def ends(table: Roundtable, merged: Merged) -> str:
    """Why no other round follows on this one; empty where one does."""
    if table.round >= table.rounds:
        return "all rounds are over"
    if merging.exhausted(merged, table.round):
        return f"round {table.round} brought no new claim"
    return ""
