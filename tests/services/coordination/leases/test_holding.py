"""Getting, keeping and giving back leases over a real store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mufakat.core.base import (
    Held,
    IdempotencyConflict,
    InvalidInput,
    LeaseLost,
    NotAllowed,
    NotFound,
    TooBroad,
    TooMany,
)
from mufakat.core.coordination.lease import Cause
from mufakat.core.coordination.principal import Principal, Right
from mufakat.services.coordination import leases, pause
from services.coordination.leases.house import PERSON, House, holders

pytestmark = pytest.mark.anyio


async def test_l2_all_or_nothing(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, "task:b")
    with pytest.raises(Held) as refused:
        await house.ask(two, "task:a", "task:b")
    (holder,) = refused.value.detail["holders"]
    assert holder["holder"] == one.identity and holder["resource"] == "task:b"
    assert holder["remaining"] == 900 and holder["since"].endswith("Z")
    assert refused.value.detail["position"] == 1
    assert holders(await house.leases.list()) == [one.identity]
    assert (await house.events("lease.refused"))[-1].data["rule"] == "held"
    await house.ask(two, "task:a")


async def test_l3_every_grant_counts_the_fence_on(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    fences = []
    for by in (one, two, one):
        lease = await house.ask(by)
        fences.append(lease.fence("task:a"))
        assert await house.leases.release(by, lease.id, lease.fences[0]) == "ok"
    assert fences[1:] == [fences[0] + 1, fences[0] + 2]
    assert fences[0] >= 1 << 40


async def test_l4_the_same_again_is_the_same_lease_and_a_key_answers_it_for_good(
    house: House,
) -> None:
    one = await house.join(1)
    first = await house.ask(one, "task:b", "task:a", "task:a", key="k")
    house.readings.elapsed_ms += 1_000
    again = await house.ask(one, "task:a", "task:b")
    assert (again.id, again.fences) == (first.id, first.fences)
    assert again.expires == first.expires + 1_000
    assert (await house.ask(one, "task:b", "task:a", key="k")).id == first.id
    await house.leases.release(one, first.id, first.fences[0])
    late = await house.ask(one, "task:b", "task:a", key="k")
    assert late.id == first.id and late.ended is not None
    with pytest.raises(IdempotencyConflict):
        await house.ask(one, "task:c", key="k")
    two = await house.join(2)
    assert (await house.ask(two, "task:c", key="k")).wanted.holder == two.identity


async def test_l5_renew_and_what_is_lost_stays_lost(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one, ttl_seconds=60)
    house.readings.elapsed_ms += 30_000
    longer = await house.leases.renew(one, lease.id, lease.fences[0], 60)
    assert longer.expires == lease.expires + 30_000
    house.readings.elapsed_ms += 60_000
    with pytest.raises(LeaseLost) as lost:
        await house.leases.renew(one, lease.id, lease.fences[0], 60)
    assert lost.value.detail == {"reason": "expired", "holder": ""}
    taken = await house.ask(two)
    with pytest.raises(LeaseLost) as lost:
        await house.leases.renew(one, lease.id, lease.fences[0], 60)
    assert lost.value.detail == {"reason": "expired", "holder": two.identity}
    assert taken.fences[0] > lease.fences[0]


@pytest.mark.parametrize("off", [-1, 1, -(1 << 41)])
async def test_row_22_a_stale_fence_touches_nobody(house: House, off: int) -> None:
    one, two = await house.join(1), await house.join(2)
    old = await house.ask(one, ttl_seconds=5)
    await house.later(5)
    new = await house.ask(two)
    assert await house.leases.release(one, old.id, old.fences[0]) == "gone"
    assert await house.leases.release(two, new.id, new.fences[0] + off) == "gone"
    with pytest.raises(LeaseLost):
        await house.leases.renew(two, new.id, new.fences[0] + off)
    assert await house.leases.get(new.id) == new


async def test_row_18_nobody_acts_on_a_lease_of_another(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one)
    for act in (
        house.leases.renew(two, lease.id, lease.fences[0]),
        house.leases.release(two, lease.id, lease.fences[0]),
        house.leases.transfer(two, lease.id, lease.fences[0], two.identity),
    ):
        with pytest.raises(NotAllowed):
            await act
    assert await house.leases.get(lease.id) == lease
    acts = [one.data["act"] for one in await house.events("access.refused")]
    assert acts == ["renew", "release", "transfer"]


@pytest.mark.parametrize("ttl", [0, -1, 1e9, float("nan"), 4.9])
async def test_row_21_a_ttl_out_of_range_is_refused(house: House, ttl: float) -> None:
    with pytest.raises(InvalidInput):
        await house.ask(await house.join(1), ttl_seconds=ttl)
    assert await house.leases.list() == []


@pytest.mark.parametrize(
    "resources",
    [("../../x",), ("custom:a\x07",), ("custom:" + "x" * 2048,), (), ("file:/etc/passwd",)],
)
async def test_row_23_wrong_resources_are_refused(house: House, resources: tuple[str]) -> None:
    one = await house.join(1)
    with pytest.raises(InvalidInput):
        await house.leases.acquire(one, leases.Request(resources))
    with pytest.raises(InvalidInput):
        await house.ask(one, *(f"task:{number}" for number in range(33)))


async def test_paths_are_read_from_the_project_on_and_links_resolved(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    (house.project / "src").mkdir()
    (house.project / "link").symlink_to(house.project / "src")
    (house.project / "out").symlink_to("/etc")
    lease = await house.ask(one, "file:link/**")
    assert lease.wanted.resources == (f"file:{house.project}/src/**",)
    with pytest.raises(Held):
        await house.ask(two, f"file:{house.project}/src/a.py")
    for outside in ("file:out/passwd", "file:../x", "repo:out"):
        with pytest.raises(InvalidInput):
            await house.ask(two, *([outside] if outside != "repo:out" else ["repo:./out"]))
    assert (await house.ask(two, "repo:.")).wanted.resources == (f"repo:{house.project}",)


async def test_the_guard_names_who_holds_a_file(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, "file:src/*.tsx", reason="renames it")
    named = str(house.project / "src" / "[id].tsx")
    found = await house.leases.guard(two, ["README.md", named])
    assert found is not None
    assert (found.holder, found.reason) == (one.identity, "renames it")
    assert await house.leases.guard(one, [named]) is None
    assert await house.leases.guard(two, ["README.md", "src/a/b.tsx"]) is None
    await house.ask(two, "file:docs/*", mode="shared")
    assert await house.leases.guard(one, ["docs/a"]) is not None
    house.readings.elapsed_ms += 900_000
    assert await house.leases.guard(two, [named]) is None


async def test_l6_a_call_renews_what_is_past_half_its_time(house: House) -> None:
    one = await house.join(1)
    lease = await house.ask(one, ttl_seconds=100)
    for seconds, expected in ((50, 0), (1, 51), (10, 51)):
        house.readings.elapsed_ms += seconds * 1000
        await house.leases.touch(one)
        assert (await house.leases.get(lease.id)).expires == lease.expires + expected * 1000
    (renewed,) = await house.events("lease.renewed")
    assert renewed.data["rule"] == "active"
    house.readings.elapsed_ms += 100_000
    await house.leases.touch(one)
    assert await house.leases.list() == []


async def test_l8_the_holder_is_told_of_an_expiry_with_the_dead_fence(house: House) -> None:
    one = await house.join(1)
    lease = await house.ask(one, ttl_seconds=5)
    await house.later(5)
    (told,) = await house.mail(one)
    assert lease.id in told and str(lease.fences[0]) in told and "expired" in told
    (event,) = await house.events("lease.expired")
    assert (event.data["cause"], event.data["rule"]) == ("expired", "ttl")
    await house.later(60)
    assert len(await house.mail(one)) == 1


async def test_l8_certain_death_frees_at_once(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, "port:80", "task:b")
    await house.store.write(lambda tx: leases.end_of(tx, one.identity, Cause.CRASHED))
    (event,) = await house.events("lease.released")
    assert event.data["cause"] == "crashed"
    assert len(await house.mail(one)) == 1
    await house.ask(two, "port:80")


async def test_l9_others_wait_after_the_expiry_of_an_unfenced_resource(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    await house.ask(one, "port:80", ttl_seconds=10)
    await house.later(10)
    with pytest.raises(Held, match="rests"):
        await house.ask(two, "port:80")
    await house.later(9.999)
    with pytest.raises(Held):
        await house.ask(two, "port:80")
    await house.later(0.001)
    await house.ask(two, "port:80")


async def test_transfer_hands_over_under_a_new_fence(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one, next_step="run the tests", deputy=two.identity)
    with pytest.raises(LeaseLost):
        await house.leases.transfer(one, lease.id, lease.fences[0] + 1, two.identity)
    with pytest.raises(NotFound):
        await house.leases.transfer(one, lease.id, lease.fences[0], "nobody")
    with pytest.raises(InvalidInput):
        await house.leases.transfer(one, lease.id, lease.fences[0], one.identity)
    fresh = await house.leases.transfer(one, lease.id, lease.fences[0], two.identity)
    assert fresh.fences[0] == lease.fences[0] + 1
    assert (fresh.wanted.holder, fresh.wanted.deputy) == (two.identity, "")
    assert await house.leases.release(one, lease.id, lease.fences[0]) == "gone"
    assert "run the tests" in (await house.mail(two))[0]
    assert await house.leases.check("task:a", fresh.fences[0]) == (True, two.identity)
    assert await house.leases.check("task:a", lease.fences[0]) == (False, two.identity)


async def test_row_19_only_the_operator_steals_and_says_why(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one)
    with pytest.raises(NotAllowed):
        await house.leases.steal(two, ["task:a"], "I want it")
    with pytest.raises(InvalidInput):
        await house.leases.steal(PERSON, ["task:a"], " ")
    assert await house.leases.get(lease.id) == lease
    taken = await house.leases.steal(PERSON, ["task:a"], "release")
    assert taken.fences[0] == lease.fences[0] + 1
    (lost,) = await house.events("lease.lost")
    assert (lost.data["reason"], lost.data["by"]) == ("release", PERSON.identity)
    assert "stolen" in (await house.mail(one))[0]
    with pytest.raises(LeaseLost) as refused:
        await house.leases.renew(one, lease.id, lease.fences[0])
    assert refused.value.detail["reason"] == "stolen"


async def test_l11_a_check_sees_an_expiry_that_nobody_has_recorded(house: House) -> None:
    one = await house.join(1)
    lease = await house.ask(one, ttl_seconds=5)
    assert await house.leases.check("task:a", lease.fences[0]) == (True, one.identity)
    house.readings.elapsed_ms += 5_000
    assert await house.leases.check("task:a", lease.fences[0]) == (False, "")
    assert await house.leases.check("task:never", 0) == (False, "")


async def test_a_deputy_steps_in_before_the_queue_and_is_told_the_next_step(house: House) -> None:
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    lease = await house.ask(one, ttl_seconds=5, deputy=two.identity, next_step="merge it")
    waiting = await house.queued(three)
    await house.later(5)
    (heir,) = await house.leases.list()
    assert heir.wanted.holder == two.identity and heir.claim_until is not None
    assert heir.fences[0] > lease.fences[0]
    assert "merge it" in (await house.mail(two))[0]
    claimed = await house.leases.renew(two, heir.id, heir.fences[0])
    assert claimed.claim_until is None
    await house.leases.release(two, heir.id, heir.fences[0])
    assert (await waiting).wanted.holder == three.identity


async def test_a_deputy_that_does_not_come_leaves_it_to_the_queue(house: House) -> None:
    one, two, three = [await house.join(number) for number in (1, 2, 3)]
    await house.ask(one, "port:80", ttl_seconds=5, deputy=two.identity)
    waiting = await house.queued(three, "port:80")
    await house.later(5)
    (heir,) = await house.leases.list()
    with pytest.raises(Held, match="rests"):
        await house.leases.renew(two, heir.id, heir.fences[0])
    await house.later(65)
    assert (await waiting).wanted.holder == three.identity


async def test_row_24_a_broad_pattern_of_the_lowest_class(house: House) -> None:
    low = await house.join(1, role="ci")
    house.write_policy('[roles]\nci = "batch"\n')
    with pytest.raises(TooBroad):
        await house.ask(low, f"file:{house.project}/**")
    await house.ask(low, f"file:{house.project}/src/**")
    assert (await house.events("lease.refused"))[-1].data["rule"] == "too_broad"


async def test_row_25_a_class_that_is_not_given_is_clamped(house: House) -> None:
    one = await house.join(1)
    assert (await house.ask(one, rank=3)).wanted.rank == 1
    assert (await house.ask(one, "task:b", rank=0)).wanted.rank == 0


async def test_row_27_a_flood_is_refused_before_the_store_and_others_are_not(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    request = leases.Request(("task:a",))
    for _ in range(20):
        await house.leases.acquire(one, request)
    before = len(await house.events())
    for _ in range(100):
        with pytest.raises(TooMany) as refused:
            await house.leases.acquire(one, request)
    assert 0 < refused.value.detail["retry_after"] <= 0.1
    assert len(await house.events()) == before
    await house.leases.acquire(two, leases.Request(("task:b",)))
    house.pace[0] += 0.1
    await house.leases.acquire(one, request)


async def test_a_budget_of_leases(house: House) -> None:
    one = await house.join(1)
    house.write_policy("[classes.normal]\nleases = 2\n")
    await house.ask(one, "task:a")
    await house.ask(one, "task:b")
    with pytest.raises(TooMany):
        await house.ask(one, "task:c")
    await house.ask(one, "task:b")


async def test_a_pause_stops_new_leases_and_lets_old_ones_go(house: House) -> None:
    one = await house.join(1)
    lease = await house.ask(one)
    await house.store.write(lambda tx: pause.switch(tx, PERSON, on=True))
    with pytest.raises(leases.base.Paused):
        await house.ask(one, "task:b")
    assert await house.leases.release(one, lease.id, lease.fences[0]) == "ok"


async def test_a_joiner_holds_nothing(house: House) -> None:
    with pytest.raises(NotAllowed):
        await house.ask(Principal(Right.JOIN))


async def test_free_is_for_the_holder_and_for_people(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one)
    with pytest.raises(NotAllowed):
        await house.store.write(lambda tx: leases.free(tx, two.identity, lease.id))
    await house.store.write(lambda tx: leases.free(tx, PERSON.identity, lease.id))
    assert (await house.leases.get(lease.id)).cause is Cause.REVOKED
    second = await house.ask(two)
    await house.store.write(lambda tx: leases.free(tx, two.identity, second.id))
    assert (await house.leases.get(second.id)).cause is Cause.RELEASED


async def test_t2_a_start_gives_time_and_empties_the_queue(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one, ttl_seconds=60)
    waiting = await house.queued(two)
    waiting.cancel()
    await asyncio.wait([waiting])
    house.readings.elapsed_ms += 3_600_000
    await house.store.write(leases.grace)
    now = await house.now()
    assert (await house.leases.get(lease.id)).expires == now + 30_000
    assert (await house.leases.renew(one, lease.id, lease.fences[0])).expires == now + 900_000


async def test_held_by_and_blocking_answer_inside_a_step(house: House) -> None:
    one, two = await house.join(1), await house.join(2)
    lease = await house.ask(one, "file:a.py")
    path = str(Path(house.project) / "a.py")
    assert await house.store.read(lambda tx: leases.held_by(tx, one.identity)) == [lease]
    found = await house.store.read(lambda tx: leases.blocking(tx, two.identity, path))
    assert found is not None and found.lease == lease.id
