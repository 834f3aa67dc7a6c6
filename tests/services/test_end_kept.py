"""A turn's end that finds no room is kept, also when the turn was cancelled meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from mufakat.core.talk.turn import Reply, Status
from mufakat.services import turns
from mufakat.services.request import Ask
from services.conftest import INLINE, House, Puppet
from storage.test_writer import limit_pages

pytestmark = pytest.mark.anyio


async def test_a_cancel_on_a_full_disk_loses_no_answer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "CANCEL_SECONDS", 0.5, raising=False)
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)

    async def works(run, on_event, cancel) -> Reply:
        await house.app.store.write(lambda tx: limit_pages(tx, 1))
        return Reply(Status.DONE, text="word " * 200_000)

    house.seat(Puppet("one", works, INLINE))
    turn = await house.app.turns.ask(Ask("Go.", str(house.project), engine="one"))
    await house.app.turns.wait(turn.id, seconds=0.5)
    assert (await house.app.turns.cancel(turn.id)).status is Status.RUNNING
    await house.app.store.write(lambda tx: limit_pages(tx, 1 << 30))
    ended = await house.app.turns.wait(turn.id, seconds=30)
    assert ended.status is Status.DONE
    assert ended.answer
