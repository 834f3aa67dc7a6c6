"""What a person does to a table that runs: pause, say, drop, more, stop, and its caps."""

from __future__ import annotations

import asyncio

import pytest

from mufakat.core.base import Conflict, EngineMissing, EngineUnknown, InvalidInput
from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.round import Standing
from mufakat.core.deliberation.roundtable import Status
from mufakat.core.deliberation.seat import Wanted
from mufakat.core.talk.turn import Status as TurnStatus
from services.conftest import House
from services.tables import NO_CAPS, asked, begin, block, hold, member, three

pytestmark = pytest.mark.anyio
NEW = [block(claims=[{"text": f"Claim number {n}."}]) for n in range(9)]


async def test_a_pause_lets_running_turns_end_and_asks_nobody_more(house: House) -> None:
    members = three()
    members[0].gate = asyncio.Event()
    view = await begin(house, members)
    await asyncio.wait_for(members[0].started.wait(), 10)
    await house.app.roundtables.pause(view.table.id)
    members[0].gate.set()
    paused = await house.app.roundtables.wait(view.table.id, seconds=20)
    assert paused.table.status is Status.PAUSED
    assert [word.round for word in paused.words] == [1, 1, 1]
    assert [len(one.runs) for one in members] == [1, 1, 1]
    await house.app.roundtables.resume(view.table.id)
    done = await house.app.roundtables.wait(view.table.id, seconds=20)
    assert done.table.status is Status.DONE
    assert [len(one.runs) for one in members] == [2, 2, 2]


async def test_a_remark_reaches_every_seat_with_its_next_turn(house: House) -> None:
    members = three()
    members[0].gate = asyncio.Event()
    view = await begin(house, members)
    await asyncio.wait_for(members[0].started.wait(), 10)
    await house.app.roundtables.say(view.table.id, "Think of the backups too.")
    members[0].gate.set()
    await house.app.roundtables.wait(view.table.id, seconds=20)
    for one in members:
        assert "backups" not in one.heard[0]
        assert "Think of the backups too." in one.heard[1]


async def test_a_dropped_seat_is_ended_and_counts_no_longer(house: House) -> None:
    members = three()
    members[2].gate = asyncio.Event()
    view = await begin(house, members)
    await asyncio.wait_for(members[2].started.wait(), 10)
    dropped = await house.app.roundtables.drop(view.table.id, "c", why="too slow")
    assert dropped.table.seat("C").why == "too slow"
    done = await house.app.roundtables.wait(view.table.id, seconds=20)
    assert done.table.status is Status.DONE
    assert {word.seat for word in done.words if word.round == 2} == {"A", "B"}
    turns = await house.app.turns.list(conversation=view.table.conversation)
    assert TurnStatus.CANCELLED in {one.status for one in turns if one.engine == "three"}
    with pytest.raises(Conflict):
        await house.app.roundtables.drop(view.table.id, "A")


async def test_a_stop_cancels_what_runs_and_keeps_what_was_said(house: House) -> None:
    members = three()
    view = await begin(house, members, rounds=1)
    view = await house.app.roundtables.wait(view.table.id, seconds=20)
    for one in members:
        one.gate = asyncio.Event()
        one.started.clear()
    await house.app.roundtables.more(view.table.id)
    await asyncio.wait_for(members[1].started.wait(), 10)
    stopped = await house.app.roundtables.stop(view.table.id)
    assert stopped.table.status is Status.STOPPED
    assert {one.claim for one in stopped.decisions} == {"A1", "B1", "C1"}
    turns = await house.app.turns.list(conversation=view.table.conversation)
    assert not [one for one in turns if one.status in {TurnStatus.QUEUED, TurnStatus.RUNNING}]
    for one in members:
        one.gate.set()
    await house.app.roundtables.more(view.table.id)
    done = await house.app.roundtables.wait(view.table.id, seconds=20)
    assert done.table.status is Status.DONE
    assert [w.standing for w in done.words if w.round == 2] == [Standing.STATED] * 3


async def test_another_round_follows_on_one_that_is_done(house: House) -> None:
    members = three()
    view = await hold(house, members, rounds=1)
    assert view.table.status is Status.DONE
    await house.app.roundtables.more(view.table.id, rounds=1)
    view = await house.app.roundtables.wait(view.table.id, seconds=20)
    assert (view.table.status, view.table.round) == (Status.DONE, 2)
    assert [one.id for one in view.decisions] == ["d:1", "d:2", "d:3"]
    assert view.decisions[0].outcome == "agreed"


async def test_seats_speak_one_after_another_in_a_sequential_table(house: House) -> None:
    members = three()
    view = await hold(house, members, order="sequential", blind=False, rounds=1)
    assert view.table.status is Status.DONE
    assert "<mufakat:positions" not in members[0].heard[0]
    assert "claim A1: SQLite is enough." in members[1].heard[0]
    assert "claim B1: It must be measured." in members[2].heard[0]


async def test_a_cap_on_characters_is_never_passed(house: House) -> None:
    members = three()
    free = await hold(house, members, caps=NO_CAPS)
    first = sum(word.chars for word in free.words if word.round == 1)
    most = first + 200
    capped = await hold(house, three(), "Which store, then?", rounds=1, caps=Caps(chars=most))
    await house.app.roundtables.more(capped.table.id, rounds=1)
    capped = await house.app.roundtables.wait(capped.table.id, seconds=20)
    assert capped.table.status is Status.CAPPED, capped.table.why
    assert capped.spent.chars <= most
    assert "characters is reached" in capped.table.why
    assert capped.decisions
    raised = Caps(chars=10 * most)
    await house.app.roundtables.more(capped.table.id, rounds=1, raised=raised)
    done = await house.app.roundtables.wait(capped.table.id, seconds=20)
    assert done.table.status is Status.DONE


async def test_a_cap_on_money_and_one_on_time_end_the_table(house: House) -> None:
    spent = await hold(house, three(), caps=Caps(cost=0.03))
    assert spent.table.status is Status.CAPPED
    assert "dollars" in spent.table.why
    members = three()
    members[1].gate = asyncio.Event()
    late = await hold(house, members, "And in time?", caps=Caps(seconds=0.5))
    assert late.table.status is Status.CAPPED
    assert "seconds" in late.table.why
    turns = await house.app.turns.list(conversation=late.table.conversation)
    assert not [one for one in turns if one.status in {TurnStatus.QUEUED, TurnStatus.RUNNING}]


async def test_what_cannot_work_is_refused_and_nothing_is_stored(house: House) -> None:
    members = three()
    house.seat(*(one.puppet() for one in members))
    tables = house.app.roundtables
    for more in (
        {"caps": Caps(chars=0)},
        {"caps": Caps(cost=float("nan"))},
        {"caps": Caps(chars=500)},
        {"caps": Caps(tokens=100)},
        {"rounds": 0},
        {"rounds": 99},
        {"order": "chaotic"},
        {"seats": (Wanted("one"),)},
        {"seats": tuple(Wanted("one") for _ in range(9))},
        {"role": "developer", "seats": (Wanted("one"), Wanted("two")), "budget": 3},
    ):
        with pytest.raises(InvalidInput) as refused:
            await tables.start(asked(house, members, "Which?", **more))
        assert refused.value.fix, more
    with pytest.raises(EngineUnknown):
        await tables.start(asked(house, members, "Which?", seats=(Wanted("one"), Wanted("no"))))
    with pytest.raises(EngineMissing):
        await tables.start(
            asked(house, members, "Which?", seats=(Wanted("one"), Wanted("opencode")))
        )
    assert not await tables.list()
    assert not await house.app.talk.conversations()


async def test_seats_that_all_fail_fail_the_table_with_the_reason(house: House) -> None:
    seats = (Wanted("scripted", "fail:overloaded"), Wanted("scripted", "fail:login"))
    view = await hold(house, [], seats=seats)
    assert view.table.status is Status.FAILED
    assert "overloaded" in view.table.why
    assert "login" in view.table.why
    assert {word.standing for word in view.words} == {Standing.MISSING}


async def test_seats_of_one_engine_are_agents_of_their_own_and_warned_of(house: House) -> None:
    one = member("one", *NEW)
    view = await hold(house, [one], seats=(Wanted("one"), Wanted("one")), rounds=1)
    assert len({seat.identity for seat in view.table.seats}) == 2
    assert len({run.workspace for run in one.runs}) == 2
    assert "same model" in view.warning


async def test_the_same_key_starts_one_table(house: House) -> None:
    members = three()
    house.seat(*(one.puppet() for one in members))
    request = asked(house, members, "Which?")
    first = await house.app.roundtables.start(request, key="k")
    again = await house.app.roundtables.start(request, key="k")
    assert first.table.id == again.table.id
    assert len(await house.app.roundtables.list()) == 1
    await house.app.roundtables.wait(first.table.id, seconds=20)
