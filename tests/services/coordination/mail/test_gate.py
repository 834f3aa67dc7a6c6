"""The stop gate over the store: holds for mail, ends always, and loses nothing on the way."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from mufakat.core.base import Superseded
from mufakat.core.coordination import flood, gate
from mufakat.core.coordination.gate import BLOCKS, Go, Hold, Rule
from mufakat.core.coordination.state import State
from mufakat.services.coordination.gate import Gate
from services.coordination.mail.conftest import ANN, BOB, CAT, Office, by

pytestmark = pytest.mark.anyio
KINDS = {
    "info": {"intent": "inform"},
    "requires_ack": {"intent": "request"},
    "urgent": {"intent": "alert", "priority": 3},
}


async def stops(office: Office, who: str, turn: str = "t1", arriving: int = 0) -> list[object]:
    """Stop until the turn may end, or for far too long; mail may come between."""
    decisions: list[object] = []
    for n in range(12):
        decisions.append(await office.stop(who, turn))
        if isinstance(decisions[-1], Go):
            break
        for extra in range(arriving):
            await office.send(CAT, who, f"new {turn} {n} {extra}")
    return decisions


@pytest.mark.parametrize("count", [0, 1, 3, 50])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arriving", [0, 1])
async def test_q11_every_path_ends_after_three_blocks_at_most(
    office: Office, count: int, kind: str, arriving: int
) -> None:
    for n in range(count):
        await office.send(ANN, BOB, f"{kind} {n}", **KINDS[kind])
    decisions = await stops(office, BOB, arriving=arriving)
    blocks = [one for one in decisions if isinstance(one, Hold)]
    assert isinstance(decisions[-1], Go)
    assert len(blocks) == len(decisions) - 1 <= BLOCKS
    assert (len(blocks) == 0) == (count == 0)
    standing = (await office.instance(BOB)).standing
    assert standing.state is State.IDLE
    open = [one for one in await office.statuses(BOB) if one in {"queued", "shown"}]
    assert standing.debt == decisions[-1].debt == len(open)
    if kind == "info" and not arriving and count <= gate.LETTERS:
        assert len(blocks) <= 1
        assert open == []
    if kind != "info" and count:
        assert decisions[-1].gave_up
        assert any("unanswered" in text for text in await office.texts(ANN))
        assert len(await office.events("gate.gave_up")) == 1


async def test_one_block_carries_all_and_what_was_shown_counts_as_read(office: Office) -> None:
    await office.send(ANN, BOB, "first")
    await office.send(CAT, BOB, "second")
    held = await office.stop(BOB)
    assert isinstance(held, Hold)
    assert held.reason.index("first") < held.reason.index("second")
    assert await office.statuses(BOB) == ["shown", "shown"]
    assert (await office.instance(BOB)).standing.state is State.WORKING
    assert await office.stop(BOB) == Go(0, (1, 2))
    assert await office.statuses(BOB) == ["acked", "acked"]
    assert (await office.instance(BOB)).acked == 2


async def test_an_answered_request_holds_no_more(office: Office) -> None:
    asked = await office.send(ANN, BOB, "which port?", intent="request")
    assert isinstance(await office.stop(BOB), Hold)
    await office.send(BOB, ANN, "8080", reply_to=asked.message)
    assert isinstance(await office.stop(BOB), Go)


async def test_an_acknowledged_or_declined_one_neither(office: Office) -> None:
    for n in range(2):
        await office.send(ANN, BOB, f"please {n}", intent="request")
    held = await office.stop(BOB)
    assert held.shown == (1, 2)
    await office.inbox.ack(by(BOB), numbers=(1,))
    assert (await office.stop(BOB)).shown == (2,)
    await office.inbox.ack(by(BOB), numbers=(2,), decline="no")
    assert isinstance(await office.stop(BOB), Go)


async def test_case_027_a_block_that_never_arrived_has_read_nothing(office: Office) -> None:
    await office.send(ANN, BOB, "important")
    assert isinstance(await office.stop(BOB, "t1"), Hold)
    again = await office.stop(BOB, "t2")
    assert isinstance(again, Hold)
    assert "important" in again.reason


async def test_case_036_nobody_is_held_for_what_it_has_dealt_with(office: Office) -> None:
    await office.send(ANN, BOB, "please", intent="request")
    await office.send(ANN, BOB, "for your information")
    await office.inbox.read(by(BOB))
    await office.inbox.ack(by(BOB), upto=2)
    assert await office.stop(BOB) == Go()


async def test_case_025_what_comes_during_the_work_is_told_before_its_end(office: Office) -> None:
    await office.send(ANN, BOB, "stop that, please")
    assert "stop that" in (await office.context.digest(by(BOB), shown=True)).text
    assert await office.stop(BOB) == Go(0, (1,))


async def test_m7_a_request_shown_five_times_is_a_dead_letter_and_holds_no_more(
    office: Office,
) -> None:
    await office.send(ANN, BOB, "please", intent="request")
    turns = 0
    while await office.statuses(BOB) != ["dead"]:
        turns += 1
        await stops(office, BOB, f"t{turns}")
        assert turns < 5
    assert turns == 2
    assert (await office.rows(BOB))[0].times == 5
    assert len(await office.events("inbox.dead")) == 1
    assert any("dead letter" in text for text in await office.texts(ANN))
    assert await office.stop(BOB, "t9") == Go()


async def test_m7_however_often_one_turn_shows_it_a_second_turn_is_needed(office: Office) -> None:
    await office.send(ANN, BOB, "please", intent="request")
    with pytest.MonkeyPatch.context() as patient:
        patient.setattr(gate, "BLOCKS", 7)
        await stops(office, BOB, "t1")
    assert await office.statuses(BOB) == ["shown"]
    assert [(row.times, row.turns) for row in await office.rows(BOB)] == [(7, 1)]
    await stops(office, BOB, "t2")
    assert await office.statuses(BOB) == ["dead"]
    assert (await office.rows(BOB))[0].turns == 2


async def test_case_105_the_store_counts_whatever_the_engine_says(office: Office) -> None:
    await office.send(ANN, BOB, "please", intent="request")
    for _ in range(BLOCKS):
        assert isinstance(await office.gate.stop(by(BOB), session="s", turn="", prompt="do"), Hold)
    assert isinstance(await office.gate.stop(by(BOB), session="s", turn="", prompt="do"), Go)
    assert isinstance(await office.gate.stop(by(BOB), session="s", turn="", prompt="next"), Hold)


async def test_background_work_ends_the_turn_but_not_the_work(office: Office) -> None:
    await office.send(ANN, BOB)
    assert (await office.stop(BOB, background=True)).debt == 1
    assert (await office.instance(BOB)).standing.state is State.WORKING


async def test_the_rule_goes_by_role(office: Office) -> None:
    await office.join("codex@host:dddddd", role="batch")
    office.gate = Gate(office.store, lambda text: None, rules=lambda: {"batch": Rule.URGENT})
    await office.send(ANN, "codex@host:dddddd", "calm")
    assert (await office.stop("codex@host:dddddd")).debt == 1


async def test_a_superseded_session_is_not_held(office: Office) -> None:
    await office.send(ANN, BOB)

    def resume(tx) -> None:
        tx.instances.keep(dataclasses.replace(tx.instances.get(BOB), epoch=2))

    await office.store.write(resume)
    with pytest.raises(Superseded):
        await office.stop(BOB)


async def test_an_agent_that_is_gone_is_let_go(office: Office) -> None:
    def leave(tx) -> None:
        there = tx.instances.get(BOB)
        gone = dataclasses.replace(there.standing, state=State.OFFLINE)
        tx.instances.keep(dataclasses.replace(there, standing=gone))

    await office.store.write(leave)
    assert await office.stop(BOB) == Go()


async def test_what_a_hook_let_through_is_counted(office: Office) -> None:
    await office.gate.skipped(by(BOB), 3)
    assert [event.data["count"] for event in await office.events("gate.skipped")] == [3]


async def test_a_request_left_at_the_cap_is_told_once_and_not_again_at_idle(
    office: Office,
) -> None:
    await office.send(ANN, BOB, "please", intent="request")
    await stops(office, BOB)
    told = [text for text in await office.texts(ANN) if "please" not in text]
    assert len(told) == 1
    assert "unanswered, after it was held 3 times" in told[0]


async def race(office: Office, rounds: int) -> int:
    """Send into the stop of a working agent; answers how many messages nobody will see."""
    lost = 0
    for n in range(rounds):
        body = f"round {n}"
        _, decision = await asyncio.gather(office.send(ANN, BOB, body), office.stop(BOB, f"t{n}"))
        standing = (await office.instance(BOB)).standing
        unread = (await office.statuses(BOB)).count("queued")
        if isinstance(decision, Hold):
            assert body in decision.reason
            await office.stop(BOB, f"t{n}")
        elif unread:
            # It came after the stop: the agent is idle by then, and the message is new for it.
            assert standing.state is State.IDLE
            events = await office.events("inbox.delivered", "agent.state")
            lost += events[-1].kind != "inbox.delivered"
            told = await office.context.digest(by(BOB), shown=True)
            assert body in told.text
        await wake(office, BOB)
    return lost


async def wake(office: Office, who: str) -> None:
    def step(tx) -> None:
        there = tx.instances.get(who)
        working = dataclasses.replace(there.standing, state=State.WORKING)
        tx.instances.keep(dataclasses.replace(there, standing=working))

    await office.store.write(step)


async def test_case_029_a_message_in_the_moment_of_going_idle_is_never_lost(
    office: Office,
) -> None:
    assert await race(office, 40) == 0


async def test_case_029_a_gate_that_decides_and_goes_idle_in_two_steps_loses_one(
    office: Office,
) -> None:
    """The twin: between the two steps a message comes that neither holds nor wakes."""

    class TwoSteps(Gate):
        async def stop(self, caller, **more):
            asked = await office.inbox.read(by(BOB))
            await office.send(ANN, BOB, "in between")
            decision = Go(len(asked)) if not asked else Hold("", ())
            await office.store.write(lambda tx: _idle(tx, decision))
            return decision

    office.gate = TwoSteps(office.store, lambda text: None)
    await office.stop(BOB)
    events = await office.events("inbox.delivered", "agent.state")
    assert events[-1].kind == "agent.state"
    assert (await office.instance(BOB)).standing.debt == 0
    assert await office.statuses(BOB) == ["queued"]


def _idle(tx, decision) -> None:
    from mufakat.core.coordination.state import Report
    from mufakat.services.coordination import states

    states.move(tx, BOB, Report(State.IDLE, debt=decision.debt))


async def ping_pong(office: Office, *, rounds: int = 40) -> int:
    """Two agents that answer whatever holds them, until neither is held; answers the rounds."""
    await office.send(ANN, BOB, "0")
    for n in range(rounds):
        who, other = (BOB, ANN) if n % 2 == 0 else (ANN, BOB)
        held = await office.stop(who, f"t{n}")
        if isinstance(held, Go):
            return n
        await office.send(who, other, f"{n + 1}")
        assert isinstance(await office.stop(who, f"t{n}"), Go)
        await wake(office, who)
    return rounds


async def test_g8_ping_pong_of_two_agents_always_ends(office: Office) -> None:
    assert await ping_pong(office) <= flood.HOPS + 1


async def test_g8_without_the_count_of_hops_it_does_not_end(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flood, "hops", lambda *_: 0)
    assert await ping_pong(office) == 40
