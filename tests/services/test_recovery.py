"""After a crash: queued turns start, running ones are interrupted and never run again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from mufakat.core.base import Conflict
from mufakat.core.talk.turn import Status
from mufakat.services import job
from mufakat.services.request import Ask
from mufakat.services.turns import Turns
from services.conftest import INLINE, House, Puppet, answers

pytestmark = pytest.mark.anyio


class Careless(Turns):
    """The faulty build: takes what was running for queued."""

    async def recover(self) -> None:
        left = await self._store.read(lambda tx: [job.of(tx, t) for t in tx.turns.unfinished()])
        for queued in left:
            self._launch(queued)


def second_server(house: House, kind: Callable[..., Turns]) -> Turns:
    """What a server would build that finds the store of a killed one."""
    old = house.app.turns
    return kind(
        old._store,  # noqa: SLF001
        old._roster,  # noqa: SLF001
        old._packing,  # noqa: SLF001
        old._runner,  # noqa: SLF001
        old._acceptance,  # noqa: SLF001
    )


async def crash(house: House, kind: Callable[..., Turns]) -> tuple[Puppet, Turns, str, str]:
    """Leave one turn running and one queued behind, then start again."""
    started = asyncio.Event()

    async def stuck(run, on_event, cancel):
        started.set()
        await cancel.wait()
        return await answers(run, on_event, cancel)

    house.seat(Puppet("one", stuck, INLINE))
    running = await house.app.turns.ask(Ask("First.", str(house.project), engine="one"))
    await asyncio.wait_for(started.wait(), 10)
    queued = await house.app.turns.ask(
        Ask("Second.", str(house.project), running.conversation, engine="one")
    )
    dead = [task for task, _ in house.app.turns._running.values()]  # noqa: SLF001
    for task in dead:
        task.cancel()
    await asyncio.wait(dead)
    survivor = Puppet("one", answers, INLINE)
    house.seat(survivor)
    turns = second_server(house, kind)
    await turns.recover()
    await turns.wait(running.id, seconds=10)
    await turns.wait(queued.id, seconds=10)
    return survivor, turns, running.id, queued.id


async def test_a_running_turn_is_interrupted_and_a_queued_one_runs(house: House) -> None:
    survivor, turns, running, queued = await crash(house, Turns)
    assert (await turns.get(running)).status is Status.INTERRUPTED
    assert (await turns.get(queued)).status is Status.DONE
    assert [run.id for run in survivor.runs] == [queued]
    ends = await house.app.feed.after(0, limit=1_000, kinds=["turn.ended"])
    told = {end.subject: end.data for end in ends}
    assert told[running].keys() == told[queued].keys() and told[running]["fix"]


async def test_twin_a_careless_recovery_is_stopped_by_the_table_of_moves(
    house: House,
) -> None:
    survivor, turns, running, _ = await crash(house, Careless)
    assert (await turns.get(running)).status is not Status.DONE
    assert running not in [run.id for run in survivor.runs]


async def test_twin_without_the_table_it_would_run_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.core.talk.turn.may_move", lambda now, then: True)
    survivor, _, running, _ = await crash(house, Careless)
    assert running in [run.id for run in survivor.runs]


async def test_a_turn_that_has_ended_is_left_alone(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE))
    done = await house.ask("First.", engine="one")
    turns = second_server(house, Turns)
    await turns.recover()
    assert (await turns.get(done.id)).status is Status.DONE
    with pytest.raises(Conflict):
        await turns.retry(done.id)
