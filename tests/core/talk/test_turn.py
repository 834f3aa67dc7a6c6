"""The life of a turn."""

from __future__ import annotations

import pytest

from mufakat.core.talk import turn
from mufakat.core.talk.turn import Failure, Status


def reachable(start: Status) -> set[Status]:
    """Every status that a turn in `start` can come to."""
    seen = {start}
    while new := {then for now in seen for then in turn.MOVES[now]} - seen:
        seen |= new
    return seen


def test_every_status_has_its_moves() -> None:
    assert set(turn.MOVES) == set(Status)
    assert reachable(Status.QUEUED) == set(Status)


@pytest.mark.parametrize("status", sorted(turn.FINAL))
def test_what_is_final_never_moves(status: Status) -> None:
    assert not any(turn.may_move(status, then) for then in Status)
    assert turn.after_crash(status) is status


def test_a_started_turn_is_never_queued_again() -> None:
    assert Status.QUEUED not in reachable(Status.RUNNING)
    assert turn.after_crash(Status.RUNNING) is Status.INTERRUPTED
    assert turn.may_move(Status.RUNNING, turn.after_crash(Status.RUNNING))


def test_a_turn_that_had_not_started_waits_on() -> None:
    assert turn.after_crash(Status.QUEUED) is Status.QUEUED


def test_nothing_is_done_without_having_run() -> None:
    assert [now for now in Status if turn.may_move(now, Status.DONE)] == [Status.RUNNING]


@pytest.mark.parametrize("failure", Failure)
def test_every_failure_says_what_helps(failure: Failure) -> None:
    advice = turn.ADVICE[failure]
    assert advice.fix.endswith(".")
    assert len(advice.fix) > 20
