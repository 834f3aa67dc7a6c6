"""A briefing: what a seat is told of its table, beside what every request is told."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.deliberation.merging import Merged
from mufakat.core.deliberation.position import Position


@dataclass(frozen=True, slots=True)
class Quoted:
    """A message, quoted: the question, or a person's remark."""

    number: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What somebody said in a round; `number` is the message's."""

    number: int
    name: str
    round: int
    text: str
    """Its words without the block."""
    position: Position | None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Briefing:
    """One seat's view of its table before it speaks."""

    table: str
    """Id of the roundtable."""
    letter: str
    others: tuple[str, ...]
    """How the other seats are called."""
    stance: str
    round: int
    rounds: int
    question: Quoted
    rules: str
    remarks: tuple[Quoted, ...] = ()
    heard: tuple[Heard, ...] = ()
    merged: Merged = Merged()
    """What the rounds before came to."""
    correction: str = ""
    """What was wrong with the block of its last answer."""


def request(briefing: Briefing) -> str:
    """The words that come last: what is wanted now."""
    if briefing.correction:
        return (
            f"The block of your last answer could not be read: {briefing.correction}. "
            "Answer with the corrected block alone."
        )
    where = f"Round {briefing.round} of {briefing.rounds}"
    if briefing.round == 1:
        return f"{where}. Answer the question of the roundtable as Seat {briefing.letter}."
    return (
        f"{where}. As Seat {briefing.letter}, say what changed since your last answer, "
        "vote on every claim that you have not voted on, and end with the block."
    )
