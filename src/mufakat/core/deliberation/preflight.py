"""Preflight: what a table will cost, by seat and round, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core import tokens
from mufakat.core.deliberation.roundtable import Order, Roundtable

WORD_CHARS = 1_400
"""Of a peer's words and claims as a pack tells them, on average."""
ROUND_CHARS = 600
"""Of a later round beside them: its request and the standing of the claims."""
ANSWER_TOKENS = 700


@dataclass(frozen=True, slots=True)
class First:
    """What a seat's first turn would send."""

    seat: str
    chars: int
    resumes: bool
    """Later rounds are told only what is new."""
    variant: str = "standard"


@dataclass(frozen=True, slots=True)
class Row:
    """One seat in one round."""

    round: int
    seat: str
    chars: int
    tokens: int
    """In and out."""
    variant: str


@dataclass(frozen=True, slots=True)
class Preflight:
    """The estimate; `naive` is what whole packs in every round, with all that was said, take."""

    rows: tuple[Row, ...]
    naive: int
    warning: str = ""

    @property
    def chars(self) -> int:
        return sum(row.chars for row in self.rows)

    @property
    def tokens(self) -> int:
        return sum(row.tokens for row in self.rows)


def estimate(table: Roundtable, firsts: Sequence[First], *, warning: str = "") -> Preflight:
    """Estimate all rounds from what the first one sends."""
    rows = [
        _row(table, one, round, at=at, count=len(firsts))
        for round in range(1, table.rounds + 1)
        for at, one in enumerate(firsts)
    ]
    peers = len(firsts) - 1
    naive = sum(
        one.chars + (round - 1) * peers * WORD_CHARS
        for round in range(1, table.rounds + 1)
        for one in firsts
    )
    return Preflight(tuple(rows), naive, warning)


def _row(table: Roundtable, one: First, round: int, *, at: int, count: int) -> Row:
    fresh = round == 1 or not one.resumes
    hears = 0
    if round > 1:
        hears = count - 1 if one.resumes else count * (round - 1)
    if table.order is Order.SEQUENTIAL and not (table.blind and round == 1):
        # Who spoke before it in this round is heard now, the others were in the last one.
        hears += at if round == 1 or not one.resumes else 0
    chars = (one.chars if fresh else 0) + hears * WORD_CHARS + (ROUND_CHARS if round > 1 else 0)
    return Row(round, one.seat, chars, _tokens(chars) + ANSWER_TOKENS, one.variant)


def _tokens(chars: int) -> int:
    return -(-chars // tokens.ASCII_CHARS_PER_TOKEN)
