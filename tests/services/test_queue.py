"""Turns that wait: none is lost when the server stops, none waits for ever."""

from __future__ import annotations

import asyncio
import gc
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from mufakat.core.base import Conflict, DoesNotFit
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.ports.engine import Capabilities
from mufakat.services import ids
from mufakat.services.request import Ask
from mufakat.services.turns import Turns
from services.conftest import INLINE, House, Puppet, answers

pytestmark = pytest.mark.anyio


async def test_what_is_queued_when_the_server_stops_stays_queued(house: House) -> None:
    started = asyncio.Event()

    async def slow(run, on_event, cancel) -> Reply:
        started.set()
        await cancel.wait()
        return Reply(Status.CANCELLED)

    house.seat(Puppet("one", slow, INLINE))
    running = await house.app.turns.ask(Ask("First.", str(house.project), engine="one"))
    await asyncio.wait_for(started.wait(), 10)
    queued = await house.app.turns.ask(
        Ask("Second.", str(house.project), running.conversation, engine="one")
    )
    await house.app.turns.close()
    late = await house.app.turns.ask(
        Ask("Third.", str(house.project), running.conversation, engine="one")
    )
    await house.app.turns.wait(late.id, seconds=5)
    stands = [(await house.app.turns.get(turn.id)).status for turn in (running, queued, late)]
    assert stands == [Status.CANCELLED, Status.QUEUED, Status.QUEUED]


async def test_a_turn_whose_engine_is_no_longer_there_ends_and_says_so(house: House) -> None:
    async def fails(run, on_event, cancel) -> Reply:
        return Reply(Status.FAILED, failure=Failure.NETWORK)

    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    house.seat(Puppet("gone", fails, INLINE))
    failed = await house.ask("First.", engine="gone")
    roster = house.app.roster
    roster._engines = {n: e for n, e in roster._engines.items() if n != "gone"}  # noqa: SLF001
    again = await house.app.turns.retry(failed.id)
    ended = await house.app.turns.wait(again.id, seconds=10)
    assert ended.status is Status.FAILED
    assert "gone" in ended.message


async def test_a_prompt_beyond_a_small_window_is_refused_before_it_is_stored(house: House) -> None:
    house.seat(Puppet("small", answers, Capabilities(window_tokens=2_048)))
    with pytest.raises(DoesNotFit):
        await house.app.turns.ask(Ask("x" * 5_000, str(house.project), engine="small"))
    assert await house.app.turns.list() == []


async def test_no_agent_leaves_a_lock_behind(house: House) -> None:
    for _ in range(3):
        await house.ask("Hello.", engine="scripted")
    gc.collect()
    assert len(house.app.turns._busy) == 0  # noqa: SLF001


async def test_last_is_the_newest_also_after_the_wall_clock_was_set_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.ask("Before.", engine="scripted")
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now - 3_600 * 10**9)
    after = await house.ask("After.", engine="scripted")
    assert (await house.app.packs.get("last")).id == after.pack
    assert (await house.app.talk.conversation("last")).id == after.conversation


async def test_agents_whose_instances_begin_alike_have_different_names(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = iter(["abcdef" + "0" * 26, "abcdef" + "1" * 26])
    monkeypatch.setattr(ids, "instance", lambda: next(made))
    one, other = [await house.ask("Hello.", engine="scripted") for _ in range(2)]
    assert one.identity != other.identity


async def test_one_damaged_prompt_does_not_keep_the_others_from_starting(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE))
    await house.app.turns.close()
    lost, kept = [
        await house.app.turns.ask(Ask("Hello.", str(house.project), engine="one")) for _ in range(2)
    ]

    def damage(tx) -> None:
        statement = text("UPDATE messages SET text = 'Hullo.' WHERE id = :id")
        tx.messages._scope.change(statement, {"id": lost.prompt})  # noqa: SLF001

    await house.app.store.write(damage)
    old = house.app.turns
    turns = Turns(old._store, old._roster, old._packing, old._runner, old._acceptance)  # noqa: SLF001
    await turns.recover()
    assert (await turns.wait(kept.id, seconds=10)).status is Status.DONE
    ended = await turns.get(lost.id)
    assert (ended.status, ended.failure) == (Status.FAILED, Failure.INTERNAL)


async def test_a_preview_refuses_what_the_request_would_be_refused_for(
    house: House, tmp_path: Path
) -> None:
    asked = await house.ask("Hello.", engine="scripted")
    ask = Ask("Hello.", str(tmp_path), asked.conversation, engine="scripted")
    with pytest.raises(Conflict):
        await house.app.turns.ask(ask)
    with pytest.raises(Conflict):
        await house.app.turns.preview(ask)
