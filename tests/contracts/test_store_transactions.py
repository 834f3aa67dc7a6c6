"""What every store promises of its transactions, its log and its clock."""

from __future__ import annotations

import asyncio
import threading

import pytest

from equipment import store_records as make
from equipment.store_records import TALK, number, say, talk_of
from mufakat.core import base
from mufakat.core.base import Event, Revision
from mufakat.core.pack import item
from mufakat.ports.store import Store, Transaction

from .conftest import Open

pytestmark = pytest.mark.anyio
LAST = 1 << 60


class Broken(Exception):
    """Raised by a step on purpose."""


async def test_a_failed_step_leaves_nothing(store: Store) -> None:
    await store.write(talk_of(2))
    await store.write(lambda tx: tx.events.record(Event("before", "x")))

    def broken(tx: Transaction) -> None:
        tx.messages.append(TALK, say("lost"), id=number(3))
        tx.events.record(Event("lost", "x"))
        tx.packs.keep_text("lost")
        tx.keys.keep("lost", "d", "r")
        raise Broken

    with pytest.raises(Broken):
        await store.write(broken)

    def left(tx: Transaction) -> object:
        talk = tx.conversations.get(TALK)
        assert talk is not None
        return (
            talk.messages,
            tx.messages.get(number(3)),
            tx.events.head(),
            tx.packs.text(item.digest("lost")),
            tx.keys.find("lost"),
        )

    assert await store.read(left) == (2, None, 1, None, None)
    assert await store.write(lambda tx: tx.events.record(Event("after", "x"))) == 2
    assert not (await store.check(deep=True)).problems


async def test_a_failed_step_does_not_touch_its_neighbours(store: Store) -> None:
    await store.write(make.setup)

    def step(n: int):
        def run(tx: Transaction) -> int:
            got = tx.messages.append(TALK, say(str(n)), id=number(n)).number
            tx.events.record(Event("said", str(n)))
            if n % 3 == 0:
                raise Broken
            return got

        return run

    answers = await asyncio.gather(
        *(store.write(step(n)) for n in range(1, 91)), return_exceptions=True
    )
    kept = [answer for answer in answers if isinstance(answer, int)]
    assert sum(isinstance(answer, Broken) for answer in answers) == 30
    assert sorted(kept) == list(range(1, 61))
    assert await store.read(lambda tx: tx.events.head()) == 60
    assert not (await store.check(deep=True)).problems


async def test_an_error_of_the_database_ends_one_step_alone(store: Store) -> None:
    await store.write(talk_of(1))

    def twice(tx: Transaction) -> int:
        with pytest.raises(base.Conflict):
            tx.messages.append(TALK, say("again"), id=number(1))
        raise Broken

    with pytest.raises(Broken):
        await store.write(twice)
    assert not (await store.check(deep=True)).problems


async def test_sixteen_writers_leave_no_gap_and_no_double(store: Store) -> None:
    await store.write(make.setup)

    def step(writer: int, n: int):
        def run(tx: Transaction) -> tuple[int, int]:
            id = make.MessageId(f"m_{writer:02d}_{n:03d}")
            said = tx.messages.append(TALK, say("x"), id=id)
            return tx.events.record(Event("said", id)), said.number

        return run

    async def writer(w: int) -> list[tuple[int, int]]:
        return [await store.write(step(w, n)) for n in range(25)]

    answers = [pair for each in await asyncio.gather(*map(writer, range(16))) for pair in each]
    assert sorted(revision for revision, _ in answers) == list(range(1, 401))
    assert sorted(said for _, said in answers) == list(range(1, 401))
    log = await store.read(lambda tx: tx.events.after(Revision(0), limit=1000))
    assert [event.revision for event in log] == list(range(1, 401))
    order = [tx_at.at for tx_at in log]
    assert order == sorted(order)
    assert not (await store.check(deep=True)).problems


async def test_a_read_sees_one_state(store: Store) -> None:
    await store.write(talk_of(1))
    inside, written = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> tuple[int, int]:
        before = len(tx.messages.page(TALK, after=0, limit=99))
        inside.set()
        assert written.wait(20)
        return before, len(tx.messages.page(TALK, after=0, limit=99))

    reading = asyncio.create_task(store.read(slow))
    await asyncio.to_thread(inside.wait, 20)
    await store.write(lambda tx: tx.messages.append(TALK, say("new"), id=number(2)))
    written.set()
    assert await reading == (1, 1)
    assert len(await store.read(lambda tx: tx.messages.page(TALK, after=0, limit=99))) == 2


async def test_a_read_cannot_write(store: Store) -> None:
    await store.write(make.setup)
    for attempt in (
        lambda tx: tx.messages.append(TALK, say("x"), id=number(1)),
        lambda tx: tx.events.record(Event("x", "y")),
        lambda tx: tx.packs.keep_text("x"),
        lambda tx: tx.conversations.hold_window(TALK, 3),
    ):
        with pytest.raises(base.StoreReadOnly):
            await store.read(attempt)
    assert await store.read(lambda tx: tx.events.head()) == 0


async def test_a_transaction_ends_with_its_step(store: Store) -> None:
    for run in (store.write, store.read):
        kept = await run(lambda tx: tx)
        with pytest.raises(base.StoreError):
            kept.events.oldest()


async def test_events_are_seen_only_after_the_commit(store: Store) -> None:
    recorded, go_on = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> int:
        revision = tx.events.record(Event("x", "y"))
        recorded.set()
        assert go_on.wait(20)
        return revision

    writing = asyncio.create_task(store.write(slow))
    waiting = asyncio.create_task(store.wait(Revision(0), seconds=20))
    await asyncio.to_thread(recorded.wait, 20)
    assert await store.read(lambda tx: tx.events.head()) == 0
    assert await store.wait(Revision(0), seconds=0.05) == 0
    assert not waiting.done()
    go_on.set()
    assert await writing == 1
    assert await waiting == 1
    assert await store.read(lambda tx: tx.events.head()) == 1


async def test_waiting_ends_at_once_when_there_is_something(store: Store) -> None:
    await store.write(lambda tx: tx.events.record(Event("x", "y")))
    assert await store.wait(Revision(0), seconds=20) == 1
    assert await store.wait(Revision(1), seconds=0) == 1


async def test_a_follower_that_only_waits_and_reads_misses_nothing(store: Store) -> None:
    async def follow() -> list[int]:
        seen: list[int] = []
        while len(seen) < 200:
            at = Revision(seen[-1] if seen else 0)
            await store.wait(at, seconds=20)
            rows = await store.read(lambda tx, at=at: tx.events.after(at, limit=50))
            seen += [event.revision for event in rows]
        return seen

    following = [asyncio.create_task(follow()) for _ in range(4)]
    for burst in range(20):
        await asyncio.gather(
            *(
                store.write(lambda tx, n=n: tx.events.record(Event("x", str(n))))
                for n in range(burst * 10, burst * 10 + 10)
            )
        )
    for seen in await asyncio.gather(*following):
        assert seen == list(range(1, 201))


async def test_t1_the_clock_is_the_high_water_mark(open_store: Open) -> None:
    readings = make.Readings(wall_ms=2_000_000)
    store = await open_store(readings)
    assert await store.read(lambda tx: tx.now()) == 2_000_000
    readings.elapsed_ms += 5_000
    readings.wall_ms -= 3_600_000
    assert await store.write(lambda tx: tx.now()) == 2_005_000
    readings.elapsed_ms += 4_000
    assert await store.read(lambda tx: tx.now()) == 2_009_000
    await store.close()
    readings = make.Readings(wall_ms=1_000, elapsed_ms=77)
    store = await open_store(readings)
    assert await store.read(lambda tx: tx.now()) >= 2_009_000
    readings.elapsed_ms += 10
    assert await store.write(lambda tx: tx.now()) >= 2_009_010
    await store.close()


async def test_t1_time_goes_on_from_the_wall_clock_when_it_is_ahead(open_store: Open) -> None:
    store = await open_store(make.Readings(wall_ms=2_000_000))
    await store.write(lambda tx: tx.now())
    await store.close()
    store = await open_store(make.Readings(wall_ms=9_000_000))
    assert await store.read(lambda tx: tx.now()) == 9_000_000
    await store.close()


async def test_records_survive_a_restart(open_store: Open) -> None:
    store = await open_store(None)
    await store.write(talk_of(5))
    before = await store.read(lambda tx: list(tx.messages.page(TALK, after=0, limit=9)))
    await store.close()
    store = await open_store(None)
    assert await store.read(lambda tx: list(tx.messages.page(TALK, after=0, limit=9))) == before
    assert not (await store.check(deep=True)).problems
    await store.close()


async def test_a_closed_store_says_so(open_store: Open) -> None:
    store = await open_store(None)
    await store.close()
    await store.close()
    with pytest.raises(base.Unavailable):
        await store.write(lambda tx: None)
    with pytest.raises(base.Unavailable):
        await store.read(lambda tx: None)


async def test_a_cancelled_caller_harms_nobody(store: Store) -> None:
    await store.write(make.setup)
    tasks = [
        asyncio.create_task(store.write(lambda tx, n=n: tx.events.record(Event("x", str(n)))))
        for n in range(50)
    ]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    kept = [answer for answer in await asyncio.gather(*tasks, return_exceptions=True)]
    assert all(isinstance(answer, int) for answer in kept[1::2])
    assert not (await store.check(deep=True)).problems
    head = await store.read(lambda tx: tx.events.head())
    assert await store.write(lambda tx: tx.events.record(Event("x", "y"))) == head + 1
