"""States: one table of moves, and no report counts that is of the past."""

from __future__ import annotations

import dataclasses
import itertools
import random

import pytest

from mufakat.core.base import Millis, Revision
from mufakat.core.coordination import state
from mufakat.core.coordination.state import Moved, On, Report, Same, Stale, Standing, State, Why

NOW = Millis(5_000)
WORKING = Standing(State.WORKING, Millis(1_000), run="r_2", ordinal=4, revision=Revision(9))
FITTING = {State.BLOCKED: On.LEASE, State.OFFLINE: On.EXITED}


def report(to: State, run: str = "r_2", ordinal: int = 0, **more: object) -> Report:
    return Report(to, run, ordinal, **{"on": FITTING.get(to), **more})  # type: ignore[arg-type]


def stale(decision: state.Decision) -> Why | None:
    return decision.why if isinstance(decision, Stale) else None


def test_a_report_moves_the_standing_and_is_counted() -> None:
    decision = state.decide(WORKING, report(State.IDLE, ordinal=7, debt=2), now=NOW)
    assert decision == Moved(
        Standing(State.IDLE, NOW, run="r_2", ordinal=7, debt=2, revision=Revision(9))
    )


@pytest.mark.parametrize(("now", "then"), list(itertools.product(State, State)))
def test_s1_only_the_table_allows_a_move(now: State, then: State) -> None:
    standing = dataclasses.replace(WORKING, state=now, on=FITTING.get(now), detail="before")
    decision = state.decide(standing, report(then, detail="after"), now=NOW)
    assert isinstance(decision, Moved) == (then in state.MOVES[now])


def test_s1_offline_is_final_for_a_run() -> None:
    gone = dataclasses.replace(WORKING, state=State.OFFLINE, on=On.CRASHED)
    for to in State:
        decision = state.decide(gone, report(to, on=FITTING.get(to)), now=NOW)
        assert stale(decision) is Why.OVER


def test_c6_who_was_only_suspected_comes_back_within_its_run() -> None:
    lost = dataclasses.replace(WORKING, state=State.OFFLINE, on=On.LOST)
    for to in (State.WORKING, State.BLOCKED, State.IDLE):
        assert isinstance(state.decide(lost, report(to), now=NOW), Moved)
    late = report(State.IDLE, ordinal=3)
    assert stale(state.decide(lost, late, now=NOW)) is Why.LATE


def test_another_run_comes_back_from_offline() -> None:
    begun = state.begin(NOW, "r_3")
    assert begun == Standing(State.STARTING, NOW, run="r_3")
    assert isinstance(state.decide(begun, report(State.WORKING, "r_3"), now=NOW), Moved)


def test_s2_a_report_that_expects_another_revision_is_stale() -> None:
    wrong = report(State.IDLE, expect=Revision(8))
    assert stale(state.decide(WORKING, wrong, now=NOW)) is Why.CHANGED
    right = report(State.IDLE, expect=Revision(9))
    assert isinstance(state.decide(WORKING, right, now=NOW), Moved)


def test_s2_the_same_state_and_detail_is_nothing_new() -> None:
    assert isinstance(state.decide(WORKING, report(State.WORKING), now=NOW), Same)
    other = state.decide(WORKING, report(State.WORKING, detail="tests"), now=NOW)
    assert isinstance(other, Moved) and other.standing.since == WORKING.since


def test_s3_a_report_of_another_run_is_refused() -> None:
    for run in ("r_1", "r_3", "anything"):
        decision = state.decide(WORKING, report(State.IDLE, run, ordinal=99), now=NOW)
        assert stale(decision) is Why.EARLIER_RUN


@pytest.mark.parametrize("ordinal", [1, 3, 4])
def test_s3_a_late_report_of_the_run_is_refused(ordinal: int) -> None:
    late = report(State.IDLE, ordinal=ordinal)
    assert stale(state.decide(WORKING, late, now=NOW)) is Why.LATE


def test_the_same_report_again_is_no_refusal() -> None:
    assert state.decide(WORKING, report(State.WORKING, ordinal=4), now=NOW) == Same(WORKING)


def test_s3_what_was_nothing_new_counts_all_the_same() -> None:
    counted = state.decide(WORKING, report(State.WORKING, ordinal=6), now=NOW)
    assert isinstance(counted, Same)
    late = report(State.IDLE, ordinal=5)
    assert stale(state.decide(counted.standing, late, now=NOW)) is Why.LATE
    # Without the count the idle of the past would be taken for the newest word.
    assert isinstance(state.decide(WORKING, late, now=NOW), Moved)


def test_a_report_that_nobody_counts_uses_up_no_number_of_who_does() -> None:
    by_the_server = state.decide(WORKING, report(State.IDLE), now=NOW)
    assert isinstance(by_the_server, Moved)
    assert by_the_server.standing.ordinal == WORKING.ordinal
    next_one = report(State.WORKING, ordinal=WORKING.ordinal + 1)
    assert isinstance(state.decide(by_the_server.standing, next_one, now=NOW), Moved)


@pytest.mark.parametrize(
    ("to", "on"),
    [
        (State.BLOCKED, None),
        (State.BLOCKED, On.CRASHED),
        (State.OFFLINE, None),
        (State.OFFLINE, On.LEASE),
        (State.IDLE, On.LEASE),
        (State.WORKING, On.EXITED),
    ],
)
def test_a_reason_that_does_not_go_with_the_state_is_refused(to: State, on: On | None) -> None:
    decision = state.decide(WORKING, report(to, on=on), now=NOW)
    assert stale(decision) is Why.MEANINGLESS


def test_s3_reports_in_any_order_end_where_the_last_one_says() -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for _ in range(300):
        reports = [
            report(chance.choice([State.WORKING, State.IDLE, State.BLOCKED]), ordinal=number)
            for number in range(5, 15)
        ]
        standing, last = WORKING, reports[-1]
        for one in chance.sample(reports, len(reports)):
            decision = state.decide(standing, one, now=NOW)
            if not isinstance(decision, Stale):
                standing = decision.standing
        assert standing.state is last.state, f"seed {seed}"
        assert standing.ordinal == last.ordinal, f"seed {seed}"
