"""A server that dies in any phase of a table: the next one goes on where nobody has answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from mufakat.app import App
from mufakat.core.base import Revision
from mufakat.core.deliberation.round import Standing
from mufakat.core.deliberation.roundtable import Status
from mufakat.core.talk.agent import Permission
from mufakat.services.deliberation import speaking
from mufakat.services.deliberation.roundtables import Roundtables
from mufakat.services.deliberation.speaking import Look
from mufakat.services.turns import Turns
from services.conftest import House
from services.tables import Member, begin, three

pytestmark = pytest.mark.anyio


class Died(BaseException):
    """Stands for kill -9: nothing after it runs."""


async def kill(app: App) -> None:
    """End all tasks of a server without letting any of them write anything."""
    tables, turns = app.roundtables, app.turns
    tasks = [*tables._tasks.values(), *(task for task, _ in turns._running.values())]  # noqa: SLF001
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def next_server(house: House) -> Roundtables:
    """What a server would build that finds the store of a killed one."""
    old = house.app.turns
    turns = Turns(
        old._store,  # noqa: SLF001
        old._roster,  # noqa: SLF001
        old._packing,  # noqa: SLF001
        old._runner,  # noqa: SLF001
        old._acceptance,  # noqa: SLF001
    )
    return Roundtables(
        old._store,  # noqa: SLF001
        old._roster,  # noqa: SLF001
        old._packing,  # noqa: SLF001
        turns,
        old._acceptance,  # noqa: SLF001
    )


async def restart(house: House, members: list[Member]) -> Roundtables:
    await kill(house.app)
    for one in members:
        one.gate = None
    tables = next_server(house)
    await tables._turns.recover()  # noqa: SLF001
    await tables.recover()
    return tables


async def test_a_kill_while_one_seat_works_asks_only_that_seat_again(house: House) -> None:
    members = three()
    members[1].gate = asyncio.Event()
    view = await begin(house, members)
    await asyncio.wait_for(members[1].started.wait(), 10)
    head = Revision(0)
    while sum(w.final for w in (await house.app.roundtables.get(view.table.id)).words) < 2:
        head = await house.app.store.wait(head, seconds=5)
    tables = await restart(house, members)
    done = await tables.wait(view.table.id, seconds=20)
    assert done.table.status is Status.DONE, done.table.why
    assert [len(one.runs) for one in members] == [2, 3, 2]
    assert {word.standing for word in done.words} == {Standing.STATED}
    cut = done.words[1]
    statuses = [(await tables._turns.get(id)).status for id in cut.turns]  # noqa: SLF001
    assert [status.value for status in statuses] == ["interrupted", "done"]


@pytest.mark.parametrize("after", [1, 2, 4, 6, 7, 9, 11, 14, 17, 20, 24, 30])
async def test_a_kill_after_any_write_leaves_a_table_that_comes_to_its_end(
    house: House, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    members = three()
    house.seat(*(one.puppet() for one in members))
    store = house.app.store
    write, left, dead = store.write, after, asyncio.Event()

    async def counted(step: Callable[..., object]) -> object:
        nonlocal left
        if dead.is_set():
            await asyncio.Event().wait()
        done = await write(step)
        left -= 1
        if left == 0:
            dead.set()
            await asyncio.Event().wait()
        return done

    view = await begin(house, members)
    monkeypatch.setattr(type(store), "write", lambda self, step: counted(step))
    waiting = asyncio.ensure_future(dead.wait())
    ended = asyncio.ensure_future(house.app.roundtables.wait(view.table.id, seconds=20))
    await asyncio.wait({waiting, ended}, return_when=asyncio.FIRST_COMPLETED)
    for one in (waiting, ended):
        one.cancel()
    killed = dead.is_set()
    await kill(house.app)
    monkeypatch.undo()
    before = await house.app.roundtables.get(view.table.id)
    tables = await restart(house, members)
    done = await tables.wait(view.table.id, seconds=20)
    assert done.table.status is Status.DONE, (killed, done.table.why)
    assert {word.standing for word in done.words} == {Standing.STATED}
    said = {(w.round, w.seat): w.answer for w in before.words if w.final}
    assert said.items() <= {(w.round, w.seat): w.answer for w in done.words}.items()
    assert len(done.decisions) == 3
    turns = await tables._turns.list(conversation=done.table.conversation)  # noqa: SLF001
    assert {one.status.value for one in turns} <= {"done", "interrupted"}


async def test_what_may_have_changed_something_waits_for_a_person(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = three()
    members[1].gate = asyncio.Event()
    view = await begin(house, members, role="developer")
    await asyncio.wait_for(members[1].started.wait(), 10)
    tables = await restart(house, members)
    paused = await tables.wait(view.table.id, seconds=20)
    assert paused.table.status is Status.PAUSED
    assert "may have changed something" in paused.table.why
    assert len(members[1].runs) == 1
    await tables.resume(view.table.id)
    done = await tables.wait(view.table.id, seconds=20)
    assert done.table.status is Status.DONE


async def test_twin_a_careless_look_asks_it_again_by_itself(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off = speaking._cut_off  # noqa: SLF001
    monkeypatch.setattr(
        speaking, "_cut_off", lambda tx, t, w, look: cut_off(tx, t, w, Look(Permission.READ))
    )
    members = three()
    members[1].gate = asyncio.Event()
    view = await begin(house, members, role="developer")
    await asyncio.wait_for(members[1].started.wait(), 10)
    tables = await restart(house, members)
    await tables.wait(view.table.id, seconds=20)
    assert len(members[1].runs) > 1
