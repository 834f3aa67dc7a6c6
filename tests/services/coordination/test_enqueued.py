"""Rules that start turns: dependants begin when the other is done; no rules chase each other."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from mufakat.core.base import Conflict, NotFound
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import State
from mufakat.core.coordination.waiting import Action, Condition
from mufakat.core.talk.turn import Status
from mufakat.services.coordination.agents import Joining
from services.conftest import INLINE, House, Puppet, answers
from services.coordination.crowd import eventually
from services.coordination.test_runs import Held, now, start

pytestmark = pytest.mark.anyio


async def enqueue(house: House, who: str, to: str, *, once: bool = True) -> object:
    data = (("to", to), ("prompt", "They are done; go on."))
    condition = Condition(who, frozenset({State.IDLE}))
    return await house.app.waiting.react(
        house.app.agents.operator, condition, Action.ENQUEUE, data, once=once
    )


async def test_s4_a_dependant_starts_when_the_other_is_idle(house: House) -> None:
    house.seat(Puppet("two", answers, INLINE))
    second = await house.ask("Wait.", engine="two")
    held = Held()
    first = await start(house, held)
    await enqueue(house, first.identity, second.identity)
    held.go.set()
    await house.app.turns.wait(first.id, seconds=10)

    async def asked() -> bool:
        turns = await house.app.turns.list(conversation=second.conversation)
        return len(turns) == 2 and turns[0].status is Status.DONE

    await eventually(asked)
    said = await house.app.talk.messages(second.conversation)
    assert "They are done; go on." in [one.text for one in said]


async def gated(house: House) -> bool:
    """A stop hook lets an agent go before its answer is stored, and somebody waits for it.

    Answers whether the dependant was asked before the answer was there.
    """
    house.seat(Puppet("two", answers, INLINE))
    second = await house.ask("Wait.", engine="two")
    held = Held()
    first = await start(house, held)
    await enqueue(house, first.identity, second.identity)
    by = Principal(Right.AGENT, first.identity, epoch=1, run=first.id)
    await house.app.gate.stop(by, session="s-1", turn="1")
    assert (await now(house, first.identity)).standing.state is State.IDLE
    await asyncio.sleep(0.4)
    early = len(await house.app.turns.list(conversation=second.conversation)) > 1
    held.go.set()
    await house.app.turns.wait(first.id, seconds=10)

    async def asked() -> bool:
        return len(await house.app.turns.list(conversation=second.conversation)) == 2

    await eventually(asked)
    return early


async def test_s4_a_dependant_starts_when_the_answer_can_be_read(house: House) -> None:
    assert not await gated(house)


async def test_twin_s4_by_the_state_alone_it_starts_before_the_answer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.services.coordination.reactions._as_known", lambda tx, one: one)
    assert await gated(house)


async def test_rules_that_would_start_each_other_for_ever_are_refused(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE), Puppet("two", answers, INLINE))
    one, two = await house.ask("A.", engine="one"), await house.ask("B.", engine="two")
    await enqueue(house, one.identity, two.identity, once=False)
    with pytest.raises(Conflict) as circle:
        await enqueue(house, two.identity, one.identity, once=False)
    assert set(circle.value.detail["cycle"]) == {one.identity, two.identity}
    with pytest.raises(Conflict):
        await enqueue(house, one.identity, one.identity, once=False)


async def test_a_circle_that_closes_later_is_stopped(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE), Puppet("two", answers, INLINE))
    one, two = await house.ask("A.", engine="one"), await house.ask("B.", engine="two")
    await enqueue(house, "role:tester", one.identity, once=False)

    def join_role(tx) -> None:
        mine = tx.instances.get(one.identity)
        tx.instances.keep(dataclasses.replace(mine, role="tester"))

    await house.app.store.write(join_role)
    await house.ask("A again.", engine="one", conversation=one.conversation)
    await asyncio.sleep(0.3)
    assert len(await house.app.turns.list(conversation=one.conversation)) == 2
    stopped = await house.app.feed.after(0, limit=1_000, kinds=("reaction.stopped",))
    assert [event.data["cycle"] for event in stopped] == [[one.identity]]
    assert two.identity


async def test_nobody_enqueues_a_turn_of_an_agent_that_others_run(house: House) -> None:
    joined = await house.app.agents.join(
        Principal(Right.JOIN), Joining("codex", project=str(house.project))
    )
    with pytest.raises(NotFound):
        await enqueue(house, joined.instance.identity, joined.instance.identity)
