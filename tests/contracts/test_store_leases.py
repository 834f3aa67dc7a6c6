"""What every store promises of leases: fences never fall, and what is live is found."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import replace

import pytest

from equipment import random_grants, store_records
from equipment.coordination_records import ALICE, BOB, grant, waiter
from equipment.random_grants import Grants
from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Cause, Lease, Mode
from mufakat.ports.store import Store, Transaction

from .conftest import Open

pytestmark = pytest.mark.anyio
A, B, C = ("file:/srv/demo/a", "file:/srv/demo/b", "task:report")
WILD = "file:/srv/demo/**"
GENERATION = 1 << 40


class Broken(Exception):
    """Raised by a step on purpose."""


def end(tx: Transaction, lease: Lease, cause: Cause = Cause.RELEASED, **more: Millis) -> None:
    tx.leases.keep(replace(lease, ended=tx.now(), cause=cause, **more))


async def ids(store: Store, query) -> list[str]:
    return [one.id for one in await store.read(query)]


async def test_l3_a_fence_is_generation_and_counter(store: Store) -> None:
    take = lambda tx: [tx.leases.next_fence(key) for key in (A, B, A, A)]  # noqa: E731
    assert await store.read(lambda tx: tx.leases.fence(A)) == 0
    assert await store.write(take) == [GENERATION + n for n in (1, 1, 2, 3)]
    assert await store.read(lambda tx: tx.leases.fence(A)) == GENERATION + 3
    assert await store.read(lambda tx: tx.leases.fence(B)) == GENERATION + 1


async def test_a_lease_is_kept_whole_and_changed(store: Store) -> None:
    def step(tx: Transaction) -> Lease:
        return grant(
            tx,
            "l_1",
            B,
            A,
            mode=Mode.SHARED,
            slots=3,
            ttl=7_000,
            reason="é",
            next_step="then",
            deputy=BOB,
            rank=2,
            claim_until=Millis(5),
            preempt_at=Millis(6),
        )

    lease = await store.write(step)
    assert lease.fence(A) == lease.fence(B) == GENERATION + 1
    assert await store.read(lambda tx: tx.leases.get("l_1")) == lease
    assert await store.read(lambda tx: tx.leases.get("l_2")) is None
    changed = replace(lease, expires=Millis(9), claim_until=None, preempt_at=None)
    await store.write(lambda tx: tx.leases.keep(changed))
    assert await store.read(lambda tx: tx.leases.get("l_1")) == changed
    ended = replace(changed, ended=Millis(8), cause=Cause.EXPIRED, locked_until=Millis(10))
    await store.write(lambda tx: tx.leases.keep(ended))
    assert await store.read(lambda tx: tx.leases.get("l_1")) == ended
    assert not (await store.check(deep=True)).problems


async def test_a_lease_may_change_hands_and_fence(store: Store) -> None:
    lease = await store.write(lambda tx: grant(tx, "l_1", A, C))

    def transfer(tx: Transaction) -> Lease:
        fences = (tx.leases.next_fence(A), lease.fences[1])
        given = replace(lease, wanted=replace(lease.wanted, holder=BOB), fences=fences)
        tx.leases.keep(given)
        return given

    given = await store.write(transfer)
    assert await store.read(lambda tx: tx.leases.get("l_1")) == given
    assert await ids(store, lambda tx: tx.leases.of(ALICE)) == []
    assert await ids(store, lambda tx: tx.leases.of(BOB)) == ["l_1"]
    assert await ids(store, lambda tx: tx.leases.touching([A])) == ["l_1"]
    assert not (await store.check(deep=True)).problems


async def test_leases_are_found_by_prefix(store: Store) -> None:
    await store.write(lambda tx: [grant(tx, f"l_{n:02d}", f"task:{n}") for n in range(12)])
    assert len(await ids(store, lambda tx: tx.leases.find("l_"))) == 10
    assert await ids(store, lambda tx: tx.leases.find("l_07")) == ["l_07"]


async def test_l9_live_is_not_ended_or_locked(open_store: Open) -> None:
    readings = store_records.Readings(wall_ms=1_000)
    store = await open_store(readings)

    def step(tx: Transaction) -> None:
        leases = [grant(tx, f"l_{n}", f"port:{n}", since=Millis(9 - n)) for n in range(5)]
        end(tx, leases[1])
        end(tx, leases[2], Cause.EXPIRED, locked_until=Millis(1_500))
        end(tx, leases[3], Cause.EXPIRED, locked_until=Millis(1_000))

    await store.write(step)
    assert await ids(store, lambda tx: tx.leases.live()) == ["l_4", "l_2", "l_0"]
    for port, found in enumerate((["l_0"], [], ["l_2"], [], ["l_4"])):
        key = f"port:{port}"
        assert await ids(store, lambda tx, key=key: tx.leases.touching([key])) == found
    assert await ids(store, lambda tx: tx.leases.of(ALICE)) == ["l_4", "l_0"]
    assert await ids(store, lambda tx: tx.leases.rested(Millis(1_000))) == ["l_3"]
    assert await ids(store, lambda tx: tx.leases.rested(Millis(1_001))) == []
    readings.elapsed_ms = 500
    assert await ids(store, lambda tx: tx.leases.live()) == ["l_4", "l_0"]
    assert await ids(store, lambda tx: tx.leases.rested(Millis(1_000))) == ["l_3", "l_2"]
    assert await ids(store, lambda tx: tx.leases.rested(Millis(1_001))) == ["l_2"]
    assert await ids(store, lambda tx: tx.leases.touching(["port:2"])) == []
    await store.close()


async def test_what_touches_a_key_or_a_pattern(store: Store) -> None:
    def step(tx: Transaction) -> None:
        grant(tx, "l_1", A, B)
        grant(tx, "l_2", C)
        grant(tx, "l_3", WILD, holder=BOB)
        end(tx, grant(tx, "l_4", A, WILD))

    await store.write(step)

    async def touching(*keys: str) -> list[str]:
        return await ids(store, lambda tx: tx.leases.touching(keys))

    assert await touching(A) == ["l_1", "l_3"]
    assert await touching(A, B, C) == ["l_1", "l_2", "l_3"]
    assert await touching("file:/srv/demo/other") == ["l_3"]
    assert await touching("file:/srv/**") == ["l_1", "l_3"]
    assert await touching("task:other") == []
    assert await touching("task:*") == ["l_2"]
    assert await touching() == []
    assert await touching("port:1", "port:*") == []


async def test_what_a_holder_has_and_what_is_past_half_its_time(open_store: Open) -> None:
    readings = store_records.Readings(wall_ms=1_000)
    store = await open_store(readings)

    async def seen(holder: str) -> tuple[int, bool]:
        return await store.read(lambda tx: (tx.leases.held(holder), tx.leases.past_half(holder)))

    def step(tx: Transaction) -> Millis:
        end(tx, grant(tx, "l_1", A))
        grant(tx, "l_2", B)
        lease = grant(tx, "l_3", C)
        return Millis(lease.expires - lease.wanted.ttl // 2)

    half = await store.write(step)
    assert await seen(ALICE) == (2, False)
    readings.elapsed_ms = half - 1_000
    assert await seen(ALICE) == (2, False)
    readings.elapsed_ms += 1
    assert await seen(ALICE) == (2, True)
    assert await seen(BOB) == (0, False)
    await store.close()


async def test_many_that_touch(store: Store) -> None:
    def step(tx: Transaction) -> None:
        for number in range(100):
            grant(tx, f"l_{number:03}", f"file:/p/{number}/**")

    await store.write(step)
    some = await ids(store, lambda tx: tx.leases.touching(["file:/p/7/a.py"]))
    assert some == ["l_007"]
    everything = await ids(store, lambda tx: tx.leases.touching(["file:/p/**"]))
    assert everything == [f"l_{number:03}" for number in range(100)]


async def test_t3_the_earliest_end(open_store: Open) -> None:
    readings = store_records.Readings(wall_ms=1_000)
    store = await open_store(readings)

    async def earliest() -> int | None:
        return await store.read(lambda tx: tx.leases.earliest())

    assert await earliest() is None
    await store.write(lambda tx: grant(tx, "l_1", A, expires=Millis(9_000)))
    assert await earliest() == 9_000
    await store.write(lambda tx: grant(tx, "l_2", B, preempt_at=Millis(8_000)))
    assert await earliest() == 8_000
    third = await store.write(lambda tx: grant(tx, "l_3", C, claim_until=Millis(7_000)))
    assert await earliest() == 7_000
    await store.write(lambda tx: tx.leases.enqueue(waiter("w_1", A, until=Millis(6_000))))
    assert await earliest() == 6_000
    await store.write(lambda tx: tx.leases.dequeue("w_1"))
    await store.write(lambda tx: end(tx, third, Cause.EXPIRED, locked_until=Millis(1_200)))
    assert await earliest() == 1_200
    readings.elapsed_ms = 200
    assert await earliest() == 8_000
    await store.close()


async def test_waiters_stand_in_order_of_arrival(store: Store) -> None:
    queue = [waiter(f"w_{n}", A, C, enqueued=Millis(5), rank=n % 4) for n in (3, 1, 2)]
    await store.write(lambda tx: [tx.leases.enqueue(one) for one in queue])
    assert list(await store.read(lambda tx: tx.leases.waiters())) == queue
    await store.write(lambda tx: tx.leases.dequeue("w_3"))
    await store.write(lambda tx: tx.leases.dequeue("w_3"))
    last = waiter("w_0", B, enqueued=Millis(1))
    await store.write(lambda tx: tx.leases.enqueue(last))
    assert list(await store.read(lambda tx: tx.leases.waiters())) == [*queue[1:], last]


async def test_a_failed_step_leaves_no_lease_and_no_fence(store: Store) -> None:
    lease = await store.write(lambda tx: grant(tx, "l_1", A))

    def broken(tx: Transaction) -> None:
        end(tx, lease)
        grant(tx, "l_2", A, B)
        tx.leases.enqueue(waiter("w_1", A))
        raise Broken

    with pytest.raises(Broken):
        await store.write(broken)
    assert list(await store.read(lambda tx: tx.leases.live())) == [lease]
    assert await ids(store, lambda tx: tx.leases.touching([A])) == ["l_1"]
    assert not await store.read(lambda tx: tx.leases.waiters())
    assert await store.read(lambda tx: (tx.leases.fence(A), tx.leases.fence(B))) == (
        GENERATION + 1,
        0,
    )


async def test_d6_contenders_never_get_the_same_fence(store: Store) -> None:
    keys = [f"task:{n}" for n in range(3)]

    def step(n: int):
        def run(tx: Transaction) -> tuple[str, int]:
            lease = grant(tx, f"l_{n:04d}", keys[n % 3], holder=f"a@b:{n:06x}")
            if n % 7 == 0:
                raise Broken
            end(tx, lease)
            return keys[n % 3], lease.fences[0]

        return run

    answers = await asyncio.gather(
        *(store.write(step(n)) for n in range(300)), return_exceptions=True
    )
    given = [one for one in answers if isinstance(one, tuple)]
    assert len(set(given)) == len(given)
    for key, times in Counter(key for key, _ in given).items():
        fences = sorted(fence for given_key, fence in given if given_key == key)
        assert fences == [GENERATION + n for n in range(1, times + 1)]
    assert not (await store.check(deep=True)).problems


async def run(open_store: Open, grants: Grants) -> None:
    """A thousand grants and ends, with a restart in between."""
    for _ in range(2):
        store = await open_store(None)
        for _ in range(10):
            await store.write(grants.some)
        await store.close()


async def test_d6_fences_only_rise(open_store: Open) -> None:
    grants = Grants(random.randrange(1 << 32))
    await run(open_store, grants)
    grants.only_rise()
    store = await open_store(None)
    assert not (await store.check(deep=True)).problems
    await store.close()


async def test_d6_twin_a_count_of_what_is_live_goes_back(open_store: Open) -> None:
    grants = Grants(7, next_fence=random_grants.from_what_is_live)
    await run(open_store, grants)
    with pytest.raises(AssertionError):
        grants.only_rise()
