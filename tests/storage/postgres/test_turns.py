"""Turns belong to the server that accepted them: another one's start leaves them alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from equipment.postgres import Cluster
from mufakat import app as application
from mufakat.app import App
from mufakat.core import base
from mufakat.core.talk.message import Kind
from mufakat.core.talk.turn import Status, Turn
from mufakat.ports.engine import OnEvent, Run
from mufakat.ports.store import Store, Transaction
from mufakat.services.request import Ask
from mufakat.settings import load
from services.conftest import INLINE, House, Puppet, answers

pytestmark = pytest.mark.anyio


@dataclass
class Team:
    """Homes of several servers on one database."""

    folder: Path
    url: str
    apps: list[App]

    async def join(self, name: str) -> House:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        (home / "settings.toml").write_text(f'store = "{self.url}"\n')
        app = await application.build(load(home))
        self.apps.append(app)
        return House(app, self.folder, home)


@pytest.fixture
async def team(cluster: Cluster, database: str, tmp_path: Path) -> AsyncIterator[Team]:
    team = Team(tmp_path, cluster.url(database), [])
    yield team
    for app in team.apps:
        await app.close()


async def running_turn(house: House) -> tuple[Turn, asyncio.Event]:
    """A turn that goes on until the event is set."""
    started, go_on = asyncio.Event(), asyncio.Event()

    async def slow(run: Run, on_event: OnEvent, cancel: asyncio.Event) -> object:
        started.set()
        await go_on.wait()
        return await answers(run, on_event, cancel)

    house.seat(Puppet("one", slow, INLINE))
    turn = await house.app.turns.ask(Ask("Go on.", str(house.project), engine="one"))
    await asyncio.wait_for(started.wait(), 20)
    return turn, go_on


async def crash(house: House) -> None:
    """What runs there ends without a word, as with kill -9."""
    dead = [task for task, _ in house.app.turns._running.values()]  # noqa: SLF001
    for task in dead:
        task.cancel()
    await asyncio.wait(dead)


async def ends_well(team: Team, *, alone: bool | None) -> None:
    """The check itself: a turn that runs here is not touched by a server that starts there."""
    here = await team.join("here")
    turn, go_on = await running_turn(here)
    there = await team.join("there")
    if alone is not None:
        await there.app.turns.recover(alone=alone)
    seen = await there.app.turns.get(turn.id)
    if seen.status is not Status.RUNNING:
        await crash(here)
    go_on.set()
    await here.app.turns.wait(turn.id, seconds=20)
    assert seen.status is Status.RUNNING
    assert (await there.app.turns.get(turn.id)).status is Status.DONE


async def test_a_second_server_leaves_running_turns_alone(team: Team) -> None:
    await ends_well(team, alone=None)


async def test_twin_a_server_that_thinks_it_is_alone_interrupts_them(team: Team) -> None:
    with pytest.raises(AssertionError):
        await ends_well(team, alone=True)


class Forgetful:
    """A store that loses the answer of one write: it was committed, and nobody was told."""

    def __init__(self, store: Store, lose: Callable[[object], bool]) -> None:
        self._store = store
        self._lose = lose
        self.lost = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def write(self, step: Callable[[Transaction], object]) -> object:
        answer = await self._store.write(step)
        if not self.lost and self._lose(await self._store.read(lambda tx: tx.turns.list())):
            self.lost += 1
            raise base.Unavailable("The connection was lost.")
        return answer


async def test_an_end_whose_answer_was_lost_is_stored_once(team: Team) -> None:
    here = await team.join("here")
    store = Forgetful(here.app.store, lambda turns: turns[0].status is Status.DONE)
    here.app.turns._runner._store = store  # noqa: SLF001
    here.seat(Puppet("one", answers, INLINE))
    turn = await asyncio.wait_for(here.ask("Answer once.", engine="one"), 30)
    assert (turn.status, store.lost) == (Status.DONE, 1)
    said = await here.app.store.read(
        lambda tx: tx.messages.page(turn.conversation, after=0, limit=99)
    )
    assert [one.kind for one in said] == [Kind.PERSON, Kind.AGENT]
    ends = await here.app.feed.after(0, limit=1_000, kinds=["turn.ended"])
    assert [end.subject for end in ends] == [turn.id]


async def test_a_restarted_server_mends_its_own(team: Team) -> None:
    here, there = await team.join("here"), await team.join("there")
    mine, _ = await running_turn(here)
    other, go_on = await running_turn(there)
    await crash(here)
    await here.app.turns.recover(alone=False)
    assert (await there.app.turns.get(mine.id)).status is Status.INTERRUPTED
    assert (await there.app.turns.get(other.id)).status is Status.RUNNING
    go_on.set()
    await there.app.turns.wait(other.id, seconds=20)
    assert (await here.app.turns.get(other.id)).status is Status.DONE
