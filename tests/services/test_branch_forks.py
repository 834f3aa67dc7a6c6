"""A branch goes on from a copy of the parent's engine session, where that tells it no more."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from mufakat.core.pack import branch_told
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.services import forking
from mufakat.services.request import Ask
from services.conftest import INLINE, SPLIT, House, Puppet
from services.test_branches import ask, branch, told

pytestmark = pytest.mark.anyio
FORKS = dataclasses.replace(SPLIT, fork=True)


async def copies(run, on_event, cancel) -> Reply:
    """An engine with sessions, which names a new one for a copy."""
    session = run.resume if run.resume and not run.fork else f"s-{run.id}"
    await on_event(stream.SessionStarted(session))
    return Reply(Status.DONE, text=f"Answer {run.id[-4:]}.", session=session)


def seat(house: House, behave: Any = copies, capabilities: Any = FORKS) -> Puppet:
    puppet = Puppet("one", behave, capabilities)
    house.seat(puppet)
    return puppet


async def session(house: House, turn: Any) -> Any:
    return await house.app.store.read(lambda tx: tx.agents.session(turn.agent))


async def why(house: House, turn: Any) -> str:
    return (await house.app.packs.get(turn.pack)).resume_why


async def test_the_first_turn_goes_on_in_a_copy(house: House) -> None:
    puppet = seat(house)
    first = await ask(house, "About names.")
    await ask(house, "The cache is called WALNUT.", first.conversation)
    before = await session(house, first)
    made = await branch(house, first.conversation)
    turn = await ask(house, "What is it called?", made.conversation.id)
    copy = puppet.runs[-1]
    assert (copy.resume, copy.fork) == (before.id, True)
    assert copy.delivery.system == puppet.runs[0].delivery.system
    assert "WALNUT" not in copy.delivery.user
    assert "forked from the parent's session, which ends at m:4" in await why(house, turn)
    assert await session(house, first) == before
    own = await session(house, turn)
    assert own.id not in ("", before.id)
    await ask(house, "And again?", made.conversation.id)
    again = puppet.runs[-1]
    assert (again.resume, again.fork) == (own.id, False)
    await ask(house, "And here?", first.conversation)
    assert (puppet.runs[-1].resume, puppet.runs[-1].fork) == (before.id, False)


async def test_a_copy_is_told_each_message_of_the_branch_though_the_numbers_are_the_parents(
    house: House,
) -> None:
    puppet = seat(house)
    house.seat(Puppet("two", copies, INLINE))
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    await house.app.talk.say(made.conversation.id, "Said in the branch: MEDLAR.")
    await ask(house, "What was said?", made.conversation.id)
    assert puppet.runs[-1].fork and "MEDLAR" in puppet.runs[-1].delivery.user


async def test_twin_with_the_parents_keys_a_message_is_not_told(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_told, "carried", lambda sections, told, parent: told)
    puppet = seat(house)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    await house.app.talk.say(made.conversation.id, "Said in the branch: MEDLAR.")
    await ask(house, "What was said?", made.conversation.id)
    assert "MEDLAR" not in puppet.runs[-1].delivery.user


async def test_a_session_that_saw_more_is_not_copied(house: House) -> None:
    puppet = seat(house)
    first = await ask(house, "One.")
    await ask(house, "Later: QUINCE.", first.conversation)
    made = await branch(house, first.conversation, "m:2")
    turn = await ask(house, "Tell.", made.conversation.id)
    assert not puppet.runs[-1].fork and puppet.runs[-1].resume == ""
    assert "not forked: the parent's session does not end at m:2" in await why(house, turn)
    assert "One." in puppet.runs[-1].delivery.system


async def test_twin_without_the_rule_a_session_that_saw_more_is_copied(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "_ends", lambda *_: True)
    puppet = seat(house)
    first = await ask(house, "One.")
    await ask(house, "Later: QUINCE.", first.conversation)
    made = await branch(house, first.conversation, "m:2")
    await ask(house, "Tell.", made.conversation.id)
    assert puppet.runs[-1].fork


@pytest.mark.parametrize("at", ["m:1", "m:3"])
async def test_a_checkpoint_that_no_session_ended_with_is_not_copied(house: House, at: str) -> None:
    puppet = seat(house)
    first = await ask(house, "One.")
    await house.app.talk.say(first.conversation, "A remark.")
    made = await branch(house, first.conversation, at)
    await ask(house, "Tell.", made.conversation.id)
    assert not puppet.runs[-1].fork


async def test_after_a_turn_that_failed_the_session_is_not_copied(house: House) -> None:
    async def breaks(run, on_event, cancel) -> Reply:
        if "Break." in run.delivery.user:
            await on_event(stream.SessionStarted(run.resume))
            return Reply(Status.FAILED, session=run.resume)
        return await copies(run, on_event, cancel)

    puppet = seat(house, breaks)
    first = await ask(house, "One.")
    await house.ask("Break.", engine="one", conversation=first.conversation)
    made = await branch(house, first.conversation, "m:2")
    await ask(house, "Tell.", made.conversation.id)
    assert not puppet.runs[-1].fork


@pytest.mark.parametrize(
    ("capabilities", "more", "reason"),
    [
        (SPLIT, {}, "one cannot fork sessions"),
        (FORKS, {"role": "reviewer"}, "its engine has no session in the parent"),
        (FORKS, {"model": "other"}, "model was none, is other"),
        (FORKS, {"fresh": True}, "a fresh session was asked for"),
    ],
)
async def test_the_receipt_says_why_nothing_was_copied(
    house: House, capabilities: Any, more: dict[str, Any], reason: str
) -> None:
    puppet = seat(house, capabilities=capabilities)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    turn = await ask(house, "Tell.", made.conversation.id, **more)
    assert not puppet.runs[-1].fork
    assert reason in await why(house, turn)


async def test_an_engine_that_finds_no_session_to_copy_gets_the_whole_pack(house: House) -> None:
    async def loses(run, on_event, cancel) -> Reply:
        if run.fork:
            return Reply(Status.FAILED, failure=Failure.SESSION_LOST)
        return await copies(run, on_event, cancel)

    puppet = seat(house, loses)
    first = await ask(house, "The cache is called WALNUT.")
    made = await branch(house, first.conversation)
    turn = await ask(house, "Tell.", made.conversation.id)
    assert [run.fork for run in puppet.runs] == [False, True, False]
    assert "WALNUT" in puppet.runs[-1].delivery.system
    assert "WALNUT" in await told(house, turn)


async def test_an_engine_that_goes_on_in_the_parents_session_keeps_nothing_of_it(
    house: House,
) -> None:
    async def ignores(run, on_event, cancel) -> Reply:
        session = run.resume or f"s-{run.id}"
        await on_event(stream.SessionStarted(session))
        return Reply(Status.DONE, text="Yes.", session=session)

    seat(house, ignores)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)
    turn = await ask(house, "Tell.", made.conversation.id)
    assert await session(house, turn) is None


async def _while_copying(house: House) -> list[str]:
    """The order in which a copy is begun and the parent goes on."""
    begun, go_on, order = asyncio.Event(), asyncio.Event(), list[str]()

    async def slow(run, on_event, cancel) -> Reply:
        if run.fork:
            begun.set()
            await go_on.wait()
            order.append("copied")
        elif "Parent." in run.delivery.user:
            order.append("parent")
        return await copies(run, on_event, cancel)

    seat(house, slow)
    first = await ask(house, "One.")
    made = await branch(house, first.conversation)

    async def start(prompt: str, conversation: str) -> Any:
        wanted = Ask(prompt, str(house.project), conversation, engine="one")
        return await house.app.turns.ask(wanted)

    inside = await start("Branch.", made.conversation.id)
    await asyncio.wait_for(begun.wait(), 10)
    outside = await start("Parent.", first.conversation)
    await house.app.turns.wait(outside.id, seconds=0.5)
    go_on.set()
    for turn in (inside, outside):
        assert (await house.app.turns.wait(turn.id, seconds=20)).status is Status.DONE
    return order


async def test_the_parents_agent_waits_until_its_session_is_copied(house: House) -> None:
    assert await _while_copying(house) == ["copied", "parent"]


async def test_twin_without_waiting_the_parents_session_grows_meanwhile(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "above", lambda tx, agent: None)
    assert await _while_copying(house) == ["parent", "copied"]
