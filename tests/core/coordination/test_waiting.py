"""Waiting: conditions by level, rules that fire once, and no circle of rules."""

from __future__ import annotations

import dataclasses

import pytest

from mufakat.core.base import Millis, ProjectId, Revision
from mufakat.core.coordination import waiting
from mufakat.core.coordination.instance import Binding, Instance
from mufakat.core.coordination.state import Standing, State
from mufakat.core.coordination.waiting import Action, Condition, Reaction

HERE, THERE = ProjectId("p_1"), ProjectId("p_2")
IDLE = frozenset({State.IDLE})


def agent(
    name: str, now: State = State.IDLE, *, role: str = "", since: int = 1_000, revision: int = 7
) -> Instance:
    return Instance(
        identity=f"codex@box:{name}",
        instance=name,
        engine="codex",
        host="box",
        role=role,
        alias="",
        project=HERE,
        agent=None,
        parent="",
        epoch=1,
        binding=Binding(),
        created=Millis(0),
        seen=Millis(0),
        standing=Standing(now, Millis(since), run="r_1", revision=Revision(revision)),
    )


def rule(who: str, **more: object) -> Reaction:
    condition = Condition(who, IDLE)
    base = Reaction("x_1", HERE, "human@box:000000", condition, Action.SEND, once=False)
    return dataclasses.replace(base, **more)  # type: ignore[arg-type]


A, B = agent("aaaaaa"), agent("bbbbbb", State.WORKING)


def enqueue(who: Instance, to: Instance, *, once: bool = False) -> Reaction:
    data = (("to", to.identity), ("prompt", "go on"))
    return rule(who.identity, action=Action.ENQUEUE, data=data, once=once)


def test_a_condition_names_an_identity_or_a_role_of_its_project() -> None:
    reviewer = agent("cccccc", role="reviewer")
    assert waiting.concerns(Condition(A.identity, IDLE), A, project=THERE)
    assert not waiting.concerns(Condition(A.identity, IDLE), B, project=HERE)
    by_role = Condition("role:reviewer", IDLE)
    assert waiting.concerns(by_role, reviewer, project=HERE)
    assert waiting.concerns(by_role, reviewer, project=None)
    assert not waiting.concerns(by_role, reviewer, project=THERE)
    assert not waiting.concerns(Condition("role:", IDLE), A, project=HERE)


def test_a_condition_is_due_when_its_time_is_over() -> None:
    assert waiting.due(Condition(A.identity, IDLE), A) == 1_000
    assert waiting.due(Condition(A.identity, IDLE, 2.5), A) == 3_500
    assert waiting.due(Condition(B.identity, IDLE), B) is None


def test_everybody_named_must_be_there_and_somebody_must_be_named() -> None:
    condition = Condition("role:x", IDLE)
    assert waiting.holds(condition, [A], now=Millis(1_000))
    assert not waiting.holds(condition, [A, B], now=Millis(9_000))
    assert not waiting.holds(condition, [], now=Millis(9_000))
    assert not waiting.holds(Condition("role:x", IDLE, 1), [A], now=Millis(1_999))


def test_s4_a_rule_fires_once_for_a_run_and_revision() -> None:
    fired = waiting.fire(rule(A.identity), A, now=Millis(1_000))
    assert fired is not None and fired.fired == (waiting.key(A),)
    assert waiting.fire(fired, A, now=Millis(2_000)) is None
    again = dataclasses.replace(A, standing=dataclasses.replace(A.standing, revision=Revision(9)))
    assert waiting.fire(fired, again, now=Millis(2_000)) is not None


def test_s4_a_rule_for_one_time_is_done_after_it() -> None:
    fired = waiting.fire(
        rule("role:", condition=Condition(A.identity, IDLE), once=True), A, now=A.seen
    )
    assert fired is None
    fired = waiting.fire(rule(A.identity, once=True), A, now=Millis(1_000))
    assert fired is not None and fired.done
    again = agent("aaaaaa", revision=99)
    assert waiting.fire(fired, again, now=Millis(2_000)) is None


def test_s4_a_change_of_detail_within_the_state_does_not_fire_again() -> None:
    fired = waiting.fire(rule(A.identity), A, now=Millis(1_000))
    assert fired is not None
    after = agent("aaaaaa", revision=8)
    carried = waiting.carry(fired, A, after)
    assert waiting.fire(carried, after, now=Millis(2_000)) is None
    # Left uncarried it would take the new detail for a new idle.
    assert waiting.fire(fired, after, now=Millis(2_000)) is not None


def test_another_state_or_run_is_not_carried() -> None:
    fired = waiting.fire(rule(A.identity), A, now=Millis(1_000))
    assert fired is not None
    working = agent("aaaaaa", State.WORKING, revision=8)
    assert waiting.carry(fired, A, working) is fired
    other = dataclasses.replace(A, standing=dataclasses.replace(A.standing, run="r_2"))
    assert waiting.carry(fired, A, other) is fired


def test_a_rule_remembers_one_key_an_instance() -> None:
    kept = rule("role:x")
    for revision in range(40):
        one = agent("aaaaaa", role="x", revision=revision)
        fired = waiting.fire(kept, one, now=Millis(5_000))
        assert fired is not None
        kept = fired
    assert kept.fired == (waiting.key(agent("aaaaaa", revision=39)),)


def test_an_act_outside_the_store_is_pending_until_it_is_done() -> None:
    fired = waiting.fire(enqueue(A, B, once=True), A, now=Millis(1_000))
    assert fired is not None and fired.pending == (waiting.key(A),)
    assert waiting.done(fired, waiting.key(A)).pending == ()
    sent = waiting.fire(rule(A.identity), A, now=Millis(1_000))
    assert sent is not None and sent.pending == ()


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([enqueue(A, A)], (A.identity,)),
        ([enqueue(A, B), enqueue(B, A)], (A.identity, B.identity)),
        ([enqueue(A, B), enqueue(B, A, once=True)], ()),
        ([enqueue(A, B)], ()),
        ([], ()),
    ],
)
def test_a_circle_of_rules_is_found(rules: list[Reaction], expected: tuple[str, ...]) -> None:
    assert waiting.circle(rules, [A, B]) == expected


def test_a_circle_through_a_role_is_found() -> None:
    worker = agent("cccccc", role="worker")
    back = rule("role:worker", action=Action.ENQUEUE, data=(("to", A.identity),))
    assert waiting.circle([enqueue(A, worker), back], [A, B, worker])


def test_a_dense_net_of_rules_is_looked_through_at_once() -> None:
    many = [agent(f"{number:06x}") for number in range(60)]
    rules = [enqueue(a, b) for a in many for b in many if a.identity < b.identity]
    assert waiting.circle(rules, many) == ()
