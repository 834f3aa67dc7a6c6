"""A holder that is asked for its lease puts that off once, and who waits is told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest

from equipment.store_records import Readings
from mufakat.core.base import Conflict, LeaseLost, Millis, NotAllowed
from mufakat.core.coordination.lease import Cause, Lease
from mufakat.core.coordination.principal import Principal
from mufakat.services.coordination import lease_deferring, leases
from mufakat.storage.store import open_store
from services.coordination.leases.house import House, furnish

pytestmark = pytest.mark.anyio

POLICY = """
grace_seconds = 60
[roles]
ci = "batch"
fire = "incident"
[classes.batch]
min_hold_seconds = 30
preemption = "{way}"
"""


@dataclass
class Scene:
    """A lease that somebody of a higher class waits for."""

    house: House
    low: Principal
    high: Principal
    lease: Lease
    waiting: asyncio.Task[Lease]

    async def defer(self, key: str = "", **more: object) -> Lease:
        lease = more.get("lease", self.lease)
        assert isinstance(lease, Lease)
        return await self.house.leases.defer(self.low, lease.id, lease.fences[0], key=key)

    async def deadline(self, id: str = "") -> Millis | None:
        return (await self.house.leases.get(id or self.lease.id)).preempt_at

    async def end(self) -> None:
        self.waiting.cancel()
        await asyncio.wait([self.waiting])


async def scene(house: House, way: str = "grace") -> Scene:
    house.write_policy(POLICY.format(way=way))
    low, high = await house.join(1, role="ci"), await house.join(2, role="fire")
    lease = await house.ask(low)
    return Scene(house, low, high, lease, await house.queued(high))


async def test_it_is_put_off_by_one_grace_period_and_who_waits_is_told(house: House) -> None:
    s = await scene(house)
    assert "defer it: once" in (await house.mail(s.low))[0]
    first = s.lease.since + 90_000
    deferred = await s.defer()
    assert deferred.preempt_at == await s.deadline() == first + 60_000
    (event,) = await house.events("lease.deferred")
    assert event.subject == s.lease.id
    assert (event.data["by"], event.data["deadline"]) == (s.high.identity, first + 60_000)
    assert "in 150 s at the latest" in (await house.mail(s.high))[0]
    await house.later(149.999)
    assert not s.waiting.done()
    await house.later(0.001)
    taken = await asyncio.wait_for(s.waiting, 10)
    assert taken.fences[0] == s.lease.fences[0] + 1
    assert (await house.leases.get(s.lease.id)).cause is Cause.STOLEN


async def test_the_second_time_is_refused_and_says_what_to_do(house: House) -> None:
    s = await scene(house)
    deferred = await s.defer(key="one")
    with pytest.raises(Conflict) as refused:
        await s.defer(key="two")
    assert refused.value.detail == {"rule": "deferred", "seconds": 150}
    assert "release or transfer" in refused.value.fix
    with pytest.raises(Conflict):
        await s.defer()
    assert await s.deadline() == deferred.preempt_at
    assert len(await house.events("lease.deferred")) == 1
    await s.end()


async def test_m3_a_lost_answer_is_asked_for_again_without_a_second_effect(house: House) -> None:
    s = await scene(house)
    first = await s.defer(key="one")
    assert await s.defer(key="one") == first
    assert len(await house.events("lease.deferred")) == 1
    await s.end()


async def test_a_new_asker_does_not_bring_a_second_time(house: House) -> None:
    s = await scene(house)
    await s.defer()
    await s.end()
    await house.later(150)
    assert await s.deadline() is None
    again = await house.queued(s.high)
    assert await s.deadline() is not None
    with pytest.raises(Conflict):
        await s.defer()
    again.cancel()
    await asyncio.wait([again])


async def test_nor_does_a_restart_of_the_server(house: House) -> None:
    s = await scene(house)
    await s.defer()
    await s.end()
    await house.store.close()
    readings = Readings(wall_ms=house.readings.wall_ms + 1_000)
    store = await open_store(house.home / "mufakat.db", readings=readings, reserve_bytes=0)
    try:
        fresh = furnish(store, readings, house.home, house.project)
        await store.write(leases.grace)
        waiting = await fresh.queued(s.high)
        after = replace(s, house=fresh, waiting=waiting)
        assert await after.deadline() is not None
        with pytest.raises(Conflict):
            await after.defer()
        await after.end()
    finally:
        await store.close()


async def test_nor_does_handing_it_on(house: House) -> None:
    s = await scene(house)
    await s.defer()
    other = await house.join(3, role="ci")
    moved = await house.leases.transfer(s.low, s.lease.id, s.lease.fences[0], other.identity)
    assert moved.preempt_at == await s.deadline(moved.id) == s.lease.since + 150_000
    told = (await house.mail(other))[-1]
    assert s.high.identity in told and "defer" not in told
    with pytest.raises(Conflict):
        await replace(s, low=other).defer(lease=moved)
    await house.later(150)
    assert (await asyncio.wait_for(s.waiting, 10)).wanted.holder == s.high.identity


async def test_who_gets_it_handed_on_in_time_may_put_it_off_itself(house: House) -> None:
    s = await scene(house)
    other = await house.join(3, role="ci")
    moved = await house.leases.transfer(s.low, s.lease.id, s.lease.fences[0], other.identity)
    assert "defer it: once" in (await house.mail(other))[-1]
    deferred = await replace(s, low=other).defer(lease=moved)
    assert deferred.preempt_at == s.lease.since + 150_000
    await s.end()


async def test_handing_it_to_who_asks_settles_it(house: House) -> None:
    s = await scene(house)
    await house.leases.transfer(s.low, s.lease.id, s.lease.fences[0], s.high.identity)
    taken = await asyncio.wait_for(s.waiting, 10)
    assert taken.wanted.holder == s.high.identity and taken.preempt_at is None


@pytest.mark.parametrize(("way", "rule"), [("ask", "not_asked"), ("now", "preempt_now")])
async def test_only_a_grace_period_is_put_off(house: House, way: str, rule: str) -> None:
    s = await scene(house, way)
    with pytest.raises(Conflict) as refused:
        await s.defer()
    assert refused.value.detail["rule"] == rule
    await s.end()


async def test_nobody_puts_off_for_another_or_by_a_dead_fence(house: House) -> None:
    s = await scene(house)
    with pytest.raises(NotAllowed):
        await replace(s, low=s.high).defer()
    (event,) = await house.events("access.refused")
    assert event.data["act"] == "defer"
    with pytest.raises(LeaseLost):
        await s.defer(lease=replace(s.lease, fences=(s.lease.fences[0] - 1,)))
    await house.later(90)
    await asyncio.wait_for(s.waiting, 10)
    with pytest.raises(LeaseLost) as lost:
        await s.defer()
    assert lost.value.detail == {"reason": "stolen", "holder": s.high.identity}


async def test_twin_a_build_that_forgets_puts_off_for_ever(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_deferring.idempotency, "keep", lambda *given: None)
    s = await scene(house)
    for _ in range(5):
        await s.defer()
    assert await s.deadline() == s.lease.since + 90_000 + 5 * 60_000
    await s.end()


async def test_twin_a_transfer_that_forgets_the_deadline_keeps_who_asks_waiting(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_deferring, "hand_on", lambda tx, lease, fresh, rules: fresh)
    s = await scene(house)
    other = await house.join(3, role="ci")
    moved = await house.leases.transfer(s.low, s.lease.id, s.lease.fences[0], other.identity)
    await house.later(200)
    assert (await house.leases.get(moved.id)).ended is None
    assert not s.waiting.done()
    await s.end()
