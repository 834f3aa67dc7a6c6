"""Where a term occurs, as one whole number an occurrence: the turn, and how often.

A conversation has two lanes, its talk and its tools; the turns of a lane are numbered without
gaps, so that the number of a turn's neighbour is the turn's own plus or minus one.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

COUNT_BITS = 2
POSITION_BITS = 20
MOST_COUNTED = (1 << COUNT_BITS) - 1
POSITIONS = 1 << POSITION_BITS
"""Turns of one lane that can be found; later ones stay in the store alone."""
TURN_SHIFT = COUNT_BITS
LANE_SHIFT = TURN_SHIFT + POSITION_BITS
TALK, TOOLS = 0, 1


def turn_of(ordinal: int, lane: int, *, position: int) -> int:
    """The number of a turn: of its conversation, lane and place."""
    return (2 * ordinal + lane) << POSITION_BITS | position


def lane_of(turn: int) -> int:
    """The lane that a turn lies in; two of them belong to one conversation."""
    return turn >> POSITION_BITS


def ordinal_of(turn: int) -> int:
    """The conversation that a turn belongs to."""
    return turn >> (POSITION_BITS + 1)


def neighbour(turn: int, step: int) -> int | None:
    """The turn `step` places further in the same lane; None before its beginning."""
    place = (turn & (POSITIONS - 1)) + step
    return turn + step if 0 <= place < POSITIONS else None


def entry(turn: int, count: int) -> int:
    """A term in a turn; how often it is there hardly matters beyond three times."""
    return turn << COUNT_BITS | min(count, MOST_COUNTED)


def entries(turn: int) -> range:
    """Every entry that a turn can have."""
    return range(turn << COUNT_BITS | 1, (turn + 1) << COUNT_BITS)


def pack(entries: Sequence[int]) -> bytes:
    """Entries as bytes, the same on every machine."""
    packed = array("Q", entries)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack(data: bytes) -> Sequence[int]:
    """What `pack` made; raises ValueError for bytes that it did not make."""
    packed = array("Q")
    packed.frombytes(data)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed
