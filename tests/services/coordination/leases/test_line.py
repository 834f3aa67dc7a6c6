"""Standing in the queue over a real store: order, claims, circles, preemption, and leaving."""

from __future__ import annotations

import asyncio

import pytest

from mufakat.core.base import Deadlock, Held, TooMany
from mufakat.core.coordination import lease_end
from mufakat.core.coordination.lease import Cause, Lease
from mufakat.core.coordination.lease_conflict import Claim
from mufakat.core.coordination.principal import Principal
from mufakat.services.coordination import lease_book, lease_waiting, leases
from services.coordination.leases.house import House

pytestmark = pytest.mark.anyio


async def give_back(house: House, by: Principal) -> None:
    (lease,) = await house.store.read(lambda tx: leases.held_by(tx, by.identity))
    await house.leases.release(by, lease.id, lease.fences[0])


async def test_l12_a_release_goes_to_the_first_in_line(house: House) -> None:
    crowd = [await house.join(number) for number in range(4)]
    await house.ask(crowd[0], next_step="look at line 3")
    waiting = [await house.queued(by) for by in crowd[1:]]
    assert [one.wanted.holder for one in await house.leases.queue()] == [
        by.identity for by in crowd[1:]
    ]
    for at, by in enumerate(crowd[:-1]):
        await give_back(house, by)
        lease = await asyncio.wait_for(waiting[at], 10)
        assert lease.wanted.holder == crowd[at + 1].identity
        assert lease.claim_until is None
        assert (await house.leases.get(lease.id)) == lease
    assert "look at line 3" in (await house.mail(crowd[1]))[0]
    assert await house.leases.queue() == []


async def test_a_wait_that_is_over_answers_who_has_it(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one)
    waiting = await house.queued(two, wait_seconds=30)
    house.readings.elapsed_ms += 30_000
    await house.store.write(lambda tx: leases.expire(tx, house.rules))
    await house.join(3)
    with pytest.raises(Held):
        await asyncio.wait_for(waiting, 10)
    assert await house.leases.queue() == []


async def test_a_wait_ends_by_itself_in_real_time(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one)
    waiting = await house.queued(two, wait_seconds=0.2)
    house.readings.elapsed_ms += 200
    with pytest.raises(Held):
        await asyncio.wait_for(waiting, 10)


async def test_an_expiry_serves_the_queue_without_a_timer(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, ttl_seconds=5)
    waiting = await house.queued(two)
    house.readings.elapsed_ms += 5_000 + round(lease_waiting.LATE * 1000)
    await house.join(3)
    assert (await asyncio.wait_for(waiting, 10)).wanted.holder == two.identity


async def test_l9_who_waits_for_an_unfenced_resource_gets_it_after_its_rest(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, "port:80", ttl_seconds=5)
    waiting = await house.queued(two, "port:80")
    await house.later(5)
    assert await house.leases.list() == []
    await house.later(4.999)
    assert await house.leases.list() == []
    await house.later(0.001)
    assert (await asyncio.wait_for(waiting, 10)).wanted.holder == two.identity


async def rest_over(house: House, *, between: bool = False) -> list[str]:
    """What somebody is told who waited while the port rested; `between` another had it first."""
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    await house.ask(one, "port:80", ttl_seconds=5, next_step="look at line 3")
    first = await house.queued(three, "port:80") if between else None
    waiting = await house.queued(two, "port:80")
    await house.later(5)
    assert await house.mail(two) == []
    await house.later(5)
    if first:
        await asyncio.wait_for(first, 10)
        await give_back(house, three)
        assert "look at line 3" in (await house.mail(three))[0]
    assert (await asyncio.wait_for(waiting, 10)).wanted.holder == two.identity
    return await house.mail(two)


async def test_l9_the_next_step_is_told_after_a_rest_as_after_a_release(house: House) -> None:
    (told,) = await rest_over(house)
    assert "look at line 3" in told and "port:80" in told


async def test_l9_it_is_told_to_the_next_one_alone(house: House) -> None:
    assert await rest_over(house, between=True) == []


async def test_l9_who_comes_in_the_rest_is_told_and_who_comes_later_is_not(house: House) -> None:
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    await house.ask(one, "port:80", ttl_seconds=5, next_step="look at line 3")
    await house.later(5)
    waiting = await house.queued(two, "port:80", mode="shared")
    reader = await house.queued(three, "port:80", mode="shared")
    await house.later(5)
    await asyncio.wait_for(asyncio.gather(waiting, reader), 10)
    for by in (two, three):
        assert "look at line 3" in (await house.mail(by))[0]
        await give_back(house, by)
    late = await house.join(4)
    await house.ask(late, "port:80", wait_seconds=600)
    assert await house.mail(late) == []


async def test_twin_a_build_that_forgets_what_rested_tells_nobody(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_book, "_rested", lambda tx, waiters: [])
    with pytest.raises(ValueError, match="unpack"):
        await test_l9_the_next_step_is_told_after_a_rest_as_after_a_release(house)


async def test_twin_a_build_that_forgets_who_had_it_since_tells_it_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left_over(lease: Lease, newest: object) -> Claim:
        return Claim(lease.wanted, lease.wanted.resources, lease)

    monkeypatch.setattr(lease_end, "left_over", left_over)
    with pytest.raises(AssertionError):
        await test_l9_it_is_told_to_the_next_one_alone(house)


async def test_l12_who_leaves_leaves_the_queue(house: House) -> None:
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    await house.ask(one)
    gone, stays = await house.queued(two), await house.queued(three)
    gone.cancel()
    await asyncio.wait([gone])
    assert [one.wanted.holder for one in await house.leases.queue()] == [three.identity]
    await give_back(house, one)
    assert (await asyncio.wait_for(stays, 10)).wanted.holder == three.identity


async def test_l12_who_leaves_before_the_entry_is_stored_leaves_none(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one)
    for pause in (0.0, 0.001, 0.002, 0.004, 0.008):
        request = asyncio.create_task(house.ask(two, wait_seconds=600))
        await asyncio.sleep(pause)
        request.cancel()
        await asyncio.wait([request])
    async with asyncio.timeout(10):
        while await house.leases.queue():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_l12_a_grant_that_nobody_claims_passes_on(house: House) -> None:
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    held = await house.ask(one)
    dead = await house.queued(two)
    (entry,) = await house.leases.queue()
    # As if its server had lost the connection without noticing: nobody sits behind the entry.
    dead.cancel()
    await asyncio.wait([dead])
    await house.store.write(lambda tx: tx.leases.enqueue(entry))
    alive = await house.queued(three)
    await house.leases.release(one, held.id, held.fences[0])
    (unclaimed,) = await house.leases.list()
    assert unclaimed.wanted.holder == two.identity and unclaimed.claim_until is not None
    assert await house.leases.check("task:a", unclaimed.fences[0]) == (False, "")
    await house.later(10)
    assert (await asyncio.wait_for(alive, 10)).wanted.holder == three.identity
    assert await house.mail(two) == []
    rules = [one.data["rule"] for one in await house.events("lease.expired")]
    assert rules == ["not_claimed"]


async def test_l12_nothing_of_who_died_stays_in_the_queue(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one)
    waiting = await house.queued(two)
    await house.store.write(lambda tx: leases.end_of(tx, two.identity, Cause.CRASHED))
    waiting.cancel()
    await asyncio.wait([waiting])
    assert await house.leases.queue() == []


async def test_l13_readers_come_together_and_a_writer_is_not_starved(house: House) -> None:
    crowd = [await house.join(number) for number in range(5)]
    await house.ask(crowd[0], mode="shared")
    writer = await house.queued(crowd[1])
    readers = [await house.queued(by, mode="shared") for by in crowd[2:]]
    with pytest.raises(Held) as refused:
        await house.ask(await house.join(9), mode="shared")
    assert refused.value.detail["rule"] == "queued_before"
    await give_back(house, crowd[0])
    await asyncio.wait_for(writer, 10)
    assert not any(reader.done() for reader in readers)
    await give_back(house, crowd[1])
    await asyncio.wait_for(asyncio.gather(*readers), 10)
    assert len(await house.leases.list()) == 3


async def test_row_26_a_circle_is_refused_to_who_would_close_it(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, "task:a")
    await house.ask(two, "task:b")
    waiting = await house.queued(one, "task:b")
    with pytest.raises(Deadlock) as refused:
        await asyncio.wait_for(house.ask(two, "task:a", wait_seconds=600), 10)
    assert refused.value.detail["cycle"] == [two.identity, one.identity]
    with pytest.raises(Held):
        await house.ask(two, "task:a")
    await give_back(house, two)
    assert (await asyncio.wait_for(waiting, 10)).wanted.holder == one.identity


async def test_a_circle_that_comes_up_while_waiting_is_broken(house: House) -> None:
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    lease = await house.ask(three, "task:c")
    await house.ask(two, "task:b")
    first = await house.queued(one, "task:b")
    second = await house.queued(two, "task:c")
    await house.leases.transfer(three, lease.id, lease.fences[0], one.identity)
    with pytest.raises(Deadlock):
        await asyncio.wait_for(second, 10)
    assert not first.done()
    await give_back(house, two)
    await asyncio.wait_for(first, 10)


async def test_p3_so_many_wait_for_one_thing(house: House) -> None:
    house.write_policy("queue = 2\n")
    crowd = [await house.join(number) for number in range(4)]
    await house.ask(crowd[0])
    waiting = [await house.queued(by) for by in crowd[1:3]]
    with pytest.raises(TooMany) as refused:
        await house.ask(crowd[3], wait_seconds=600)
    assert refused.value.detail["rule"] == "queue_full"
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def test_p2_the_queue_is_ordered_by_class_and_age(house: House) -> None:
    house.write_policy('[roles]\nfire = "high"\n')
    one, two = await house.join(1), await house.join(2)
    high = await house.join(3, role="fire")
    await house.ask(one, ttl_seconds=86_400)
    waiting = [await house.queued(two)]
    house.readings.elapsed_ms += 300_000
    waiting.append(await house.queued(high))
    order = [entry.wanted.holder for entry in await house.leases.queue()]
    assert order == [high.identity, two.identity]
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


PREEMPTION = """
[roles]
ci = "batch"
fire = "incident"
[classes.batch]
preemption = "{way}"
"""


async def test_l10_grace_then_it_passes_on_with_a_higher_fence(house: House) -> None:
    house.write_policy(PREEMPTION.format(way="grace"))
    low, high = await house.join(1, role="ci"), await house.join(2, role="fire")
    lease = await house.ask(low)
    waiting = await house.queued(high, reason="production is down")
    (asked,) = await house.events("lease.preempt_requested")
    assert asked.data["deadline"] == lease.since + 90_000
    assert "production is down" in (await house.mail(low))[0]
    await house.later(89.999)
    assert not waiting.done()
    assert (await house.leases.get(lease.id)).ended is None
    await house.later(0.001)
    taken = await asyncio.wait_for(waiting, 10)
    assert taken.fences[0] == lease.fences[0] + 1
    assert (await house.leases.get(lease.id)).cause is Cause.STOLEN


async def test_l10_who_no_longer_waits_takes_nothing(house: House) -> None:
    house.write_policy(PREEMPTION.format(way="grace"))
    low, high = await house.join(1, role="ci"), await house.join(2, role="fire")
    lease = await house.ask(low)
    waiting = await house.queued(high)
    waiting.cancel()
    await asyncio.wait([waiting])
    await house.later(90)
    now = await house.leases.get(lease.id)
    assert now.ended is None and now.preempt_at is None


@pytest.mark.parametrize(("way", "asked"), [("never", 0), ("ask", 1)])
async def test_l10_never_and_ask_leave_it_to_the_holder(house: House, way: str, asked: int) -> None:
    house.write_policy(PREEMPTION.format(way=way))
    low, high = await house.join(1, role="ci"), await house.join(2, role="fire")
    lease = await house.ask(low)
    waiting = await house.queued(high)
    assert len(await house.mail(low)) == asked
    await house.later(200)
    assert (await house.leases.get(lease.id)).ended is None
    await give_back(house, low)
    await asyncio.wait_for(waiting, 10)


async def test_l10_now_takes_it_once_it_was_held_long_enough(house: House) -> None:
    house.write_policy(PREEMPTION.format(way="now"))
    low, high = await house.join(1, role="ci"), await house.join(2, role="fire")
    await house.ask(low)
    await house.later(30)
    taken = await asyncio.wait_for(house.ask(high, wait_seconds=600), 10)
    assert taken.wanted.holder == high.identity


async def test_l10_an_equal_class_never_takes(house: House) -> None:
    house.write_policy(PREEMPTION.format(way="now"))
    one, two = await house.join(1, role="ci"), await house.join(2, role="ci")
    await house.ask(one)
    waiting = await house.queued(two)
    await house.later(300)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])


async def test_ten_things_for_eighty_requests_are_granted_ten_times(house: House) -> None:
    crowd = [await house.join(number) for number in range(8)]

    async def attempt(by: Principal, number: int) -> bool:
        try:
            await house.ask(by, f"task:{number}")
        except Held:
            return False
        return True

    tries = [attempt(by, number) for number in range(10) for by in crowd]
    assert sum(await asyncio.gather(*tries)) == 10
