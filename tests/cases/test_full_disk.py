"""A disk that fills up while an engine works: the answer is kept until there is room."""

from __future__ import annotations

import asyncio

import pytest

from cases import fakes
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.services import runner
from mufakat.services.request import Ask
from services.conftest import INLINE, House, Puppet
from storage.test_writer import limit_pages

pytestmark = pytest.mark.anyio

ANSWER = "word " * 200_000
"""Larger than what the file has left, but not than a message may be."""


async def fills_up(house: House) -> str:
    """A turn during which the disk becomes full; answers its id while its end cannot be stored."""

    full = asyncio.Event()

    async def works(run, on_event, cancel) -> Reply:
        await house.app.store.write(lambda tx: limit_pages(tx, 1))
        full.set()
        return Reply(Status.DONE, text=ANSWER)

    house.seat(Puppet("one", works, INLINE))
    turn = await house.app.turns.ask(Ask("Go.", str(house.project), engine="one"))
    await asyncio.wait_for(full.wait(), 30)
    await house.app.turns.wait(turn.id, seconds=1.5)
    return turn.id


async def test_an_answer_waits_for_room_and_is_not_lost(house: House) -> None:
    id = await fills_up(house)
    assert (await house.app.turns.get(id)).status is Status.RUNNING
    await house.app.store.write(lambda tx: limit_pages(tx, 1 << 30))
    turn = await house.app.turns.wait(id, seconds=30)
    assert turn.status is Status.DONE
    assert (await house.app.talk.message(turn.answer)).text == ANSWER
    assert len(await fakes.events(house, "turn.ended")) == 1


async def test_twin_a_build_that_tries_once_loses_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "pauses", lambda: iter(()))
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    id = await fills_up(house)
    await house.app.store.write(lambda tx: limit_pages(tx, 1 << 30))
    turn = await house.app.turns.wait(id, seconds=5)
    assert turn.status is Status.RUNNING


async def test_closing_does_not_wait_for_a_full_disk(house: House) -> None:
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    await fills_up(house)
    await asyncio.wait_for(house.app.turns.close(), 20)


async def test_a_request_that_does_not_fit_on_the_disk_is_refused_and_said_so(
    house: House,
) -> None:
    async def never(run, on_event, cancel) -> Reply:
        return Reply(Status.FAILED, failure=Failure.INTERNAL)

    house.seat(Puppet("one", never, INLINE))
    await house.app.store.write(lambda tx: limit_pages(tx, 1))
    with pytest.raises(runner.StoreError) as caught:
        await house.app.turns.ask(Ask("x" * 50_000, str(house.project), engine="one"))
    assert caught.value.retryable
    assert caught.value.fix
