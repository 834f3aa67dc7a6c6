"""Occurrences as numbers: what is put in comes out, and neighbours are beside each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.knowledge import marks, posting
from mufakat.core.knowledge.marks import Mark

ORDINALS = st.integers(0, 1 << 22)
POSITIONS = st.integers(0, posting.POSITIONS - 1)


@given(ORDINALS, st.sampled_from((posting.TALK, posting.TOOLS)), POSITIONS, st.integers(1, 9_999))
def test_what_is_put_in_comes_out(ordinal: int, lane: int, position: int, count: int) -> None:
    turn = posting.turn_of(ordinal, lane, position=position)
    entry = posting.entry(turn, count)
    (found,) = posting.unpack(posting.pack([entry]))
    assert found >> posting.TURN_SHIFT == turn
    assert found & posting.MOST_COUNTED == min(count, posting.MOST_COUNTED)
    assert posting.ordinal_of(turn) == ordinal
    assert turn.bit_length() < 63
    assert entry in posting.entries(turn)


@given(st.integers(0, 31), st.integers(0, 1 << 30))
def test_marks_and_length_come_out(mark: int, length: int) -> None:
    found = marks.unpack(marks.pack(Mark(mark), length))
    assert found == (Mark(mark), min(length, (1 << 24) - 1))


def test_the_form_of_a_turn() -> None:
    assert Mark.TIME in marks.of_turn("We met yesterday.")
    assert Mark.QUESTION | Mark.ASKS in marks.of_turn("Why?")
    assert Mark.NAME in marks.of_turn("It was Berlin.")
    assert marks.of_turn("nothing here") is Mark.NONE
