"""Deliveries: the table of moves, what an acknowledgement reaches, when one is given up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.coordination import mail
from mufakat.core.base import BadCursor, Conflict, Millis
from mufakat.core.coordination import delivery
from mufakat.core.coordination.inbox import OPEN, Delivery, Intent, Status

NOW = Millis(1_000)


def rows(*statuses: Status, epoch: int = 1) -> list[Delivery]:
    return [
        mail.letter(n, status=status, epoch=epoch if status is not Status.QUEUED else 0).delivery
        for n, status in enumerate(statuses, 1)
    ]


def test_every_status_has_its_row_and_nothing_goes_back_to_unread() -> None:
    assert set(delivery.MOVES) == set(Status)
    back = {now for now, onward in delivery.MOVES.items() if Status.QUEUED in onward}
    assert back == {Status.HELD, Status.OFFERED, Status.DEAD}


def test_a_move_beyond_the_table_is_refused() -> None:
    done = mail.letter(1, status=Status.ANSWERED).delivery
    with pytest.raises(Conflict):
        delivery.move(done, Status.SHOWN, at=NOW)


def test_an_offer_lasts_a_minute_and_is_then_anybodys() -> None:
    offered = delivery.offer(mail.letter(1).delivery, epoch=3, at=NOW)
    assert not delivery.claimable(offered, Millis(NOW + 59_999))
    assert delivery.claimable(offered, Millis(NOW + 60_000))


def test_case_027_an_offer_alone_is_not_read() -> None:
    offered = delivery.offer(mail.letter(1).delivery, epoch=3, at=NOW)
    assert offered.status in OPEN
    assert offered.times == 0


def test_an_ack_reaches_what_this_session_was_given_and_no_further() -> None:
    inbox = rows(Status.SHOWN, Status.OFFERED, Status.QUEUED)
    acked = delivery.ack_upto(inbox, 2, acked=0, epoch=1, at=NOW)
    assert [row.number for row in acked.done] == [1, 2]
    assert acked.cursor == 2


@pytest.mark.parametrize("upto", [3, 4, 0, -1, 2**63])
def test_row_28_an_ack_beyond_what_was_delivered_is_refused(upto: int) -> None:
    with pytest.raises(BadCursor):
        delivery.ack_upto(
            rows(Status.SHOWN, Status.OFFERED, Status.QUEUED), upto, acked=0, epoch=1, at=NOW
        )


def test_an_older_ack_changes_nothing() -> None:
    above = [replace(row, number=row.number + 5) for row in rows(Status.SHOWN)]
    assert delivery.ack_upto(above, 4, acked=5, epoch=1, at=NOW).cursor == 5


def test_what_another_session_was_given_is_not_acked_by_this_one() -> None:
    with pytest.raises(BadCursor):
        delivery.ack_upto(rows(Status.SHOWN, epoch=1), 1, acked=0, epoch=2, at=NOW)


def test_a_gap_that_was_never_shown_stays_unread_and_holds_the_cursor() -> None:
    inbox = rows(Status.SHOWN, Status.QUEUED, Status.SHOWN)
    acked = delivery.ack_upto(inbox, 3, acked=0, epoch=1, at=NOW)
    assert [row.number for row in acked.done] == [1, 3]
    assert acked.cursor == 1


def test_single_messages_are_declined_with_their_reason() -> None:
    done = delivery.ack_each(rows(Status.SHOWN), epoch=1, at=NOW, decline="no time").done
    assert [(row.status, row.note) for row in done] == [(Status.DECLINED, "no time")]


def test_the_beginning_of_a_long_message_counts_as_given_but_not_as_read() -> None:
    begun = delivery.begin(mail.letter(1).delivery, epoch=1, at=NOW)
    assert begun.status is Status.QUEUED
    assert delivery.delivered(begun, 1)
    assert not delivery.delivered(begun, 2)


def test_five_times_in_vain_is_given_up_only_where_an_acknowledgement_is_needed() -> None:
    asked = mail.letter(1, intent=Intent.REQUEST, status=Status.SHOWN, times=5, turns=2)
    told = mail.letter(1, status=Status.SHOWN, times=5, turns=2)
    assert delivery.given_up(asked)
    assert not delivery.given_up(told)
    assert not delivery.given_up(mail.letter(1, intent=Intent.REQUEST, times=4, turns=4))
    assert not delivery.given_up(mail.letter(1, intent=Intent.REQUEST, times=9, turns=1))


@pytest.mark.parametrize(
    ("turns", "counted"),
    [
        (["a"], 1),
        (["a", "a", "a"], 1),
        (["a", "b"], 2),
        (["a", "a", "b", "b", "c"], 3),
        # Told on the way, then held at the end: it may be one turn.
        (["", "a", "a"], 1),
        ([""], 0),
    ],
)
def test_m7_turns_are_counted_not_deliveries(turns: list[str], counted: int) -> None:
    row = mail.letter(1, intent=Intent.REQUEST).delivery
    for turn in turns:
        row = delivery.show(row, epoch=1, turn=turn, at=Millis(1))
    assert (row.times, row.turns) == (len(turns), counted)
    dead = delivery.again(delivery.move(row, Status.DEAD, at=Millis(2)), at=Millis(3))
    assert (dead.times, dead.turns) == (0, 0)


@given(st.lists(st.sampled_from(list(Status)[1:]), max_size=30), st.integers(0, 31))
def test_no_ack_marks_what_was_never_given_nor_moves_back(inbox: list[Status], upto: int) -> None:
    given = rows(*inbox)
    try:
        acked = delivery.ack_upto(given, upto, acked=0, epoch=1, at=NOW)
    except BadCursor:
        return
    assert all(row.number <= upto for row in acked.done)
    assert all(given[row.number - 1].status is not Status.QUEUED for row in acked.done)
    assert acked.cursor >= 0
    now = {row.number: row.status for row in (*given, *acked.done)}
    assert all(now[n] in delivery.DONE for n in range(1, acked.cursor + 1))
