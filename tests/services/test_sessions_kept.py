"""An engine's session outlives what is not its fault, and what it was sent is what is recorded."""

from __future__ import annotations

import asyncio

import pytest

from mufakat.core.talk import stream
from mufakat.core.talk.session import Session
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.services.request import Ask
from services.conftest import INLINE, SPLIT, House, Puppet, answers

pytestmark = pytest.mark.anyio


async def session(house: House, turn) -> Session | None:
    return await house.app.store.read(lambda tx: tx.agents.session(turn.agent))


async def test_cancelling_a_turn_that_waits_leaves_the_session_alone(house: House) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    async def slow(run, on_event, cancel) -> Reply:
        if "Second." in run.delivery.user:
            started.set()
            await go_on.wait()
        return await answers(run, on_event, cancel)

    house.seat(Puppet("one", slow, INLINE))
    first = await house.ask("First.", engine="one")

    def more(prompt: str) -> Ask:
        return Ask(prompt, str(house.project), first.conversation, engine="one")

    second = await house.app.turns.ask(more("Second."))
    await asyncio.wait_for(started.wait(), 10)
    third = await house.app.turns.ask(more("Third."))
    assert (await house.app.turns.cancel(third.id)).status is Status.CANCELLED
    kept = await session(house, first)
    go_on.set()
    await house.app.turns.wait(second.id, seconds=20)
    assert kept is not None


async def loses(run, on_event, cancel) -> Reply:
    """Knows no session that it is asked to resume a first time."""
    if run.resume.startswith("first"):
        return Reply(Status.FAILED, failure=Failure.SESSION_LOST)
    name = run.resume or ("second" if "Second." in run.delivery.user else "first")
    await on_event(stream.SessionStarted(name))
    return Reply(Status.DONE, text="Yes.", session=name)


async def test_after_a_lost_session_the_new_one_keeps_its_system_text(house: House) -> None:
    puppet = Puppet("one", loses, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    second = await house.ask("Second.", engine="one", conversation=first.conversation)
    await house.ask("Third.", engine="one", conversation=first.conversation)
    assert [run.resume for run in puppet.runs] == ["", "first", "", "second"]
    assert puppet.runs[3].delivery.system == puppet.runs[2].delivery.system != ""
    pack = await house.app.packs.get(second.pack)
    assert not pack.resumed
    assert "no longer knows" in pack.resume_why
    sent = await house.app.packs.sent(pack)
    assert sent == (puppet.runs[2].delivery.system, puppet.runs[2].delivery.user)
