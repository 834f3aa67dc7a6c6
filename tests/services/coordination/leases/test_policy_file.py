"""The policy file in a home: read when it changes, the last good one kept, and explained."""

from __future__ import annotations

import asyncio

import pytest

from mufakat.core.base import MufakatError
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.lease import Rule
from mufakat.core.coordination.principal import Principal
from mufakat.services.coordination.rulebook import BUILT_IN, Rulebook
from services.coordination.leases.house import House

pytestmark = pytest.mark.anyio


async def test_a_change_of_the_file_counts_at_the_next_use(house: House) -> None:
    one = await house.join(1)
    assert (await house.policy.current()).version == BUILT_IN
    house.write_policy('default = "high"\n')
    assert (await house.ask(one)).wanted.rank == 2
    first = (await house.policy.current()).version
    house.write_policy('default = "batch" # less\n')
    assert (await house.ask(one, "task:b")).wanted.rank == 0
    versions = [event.data["version"] for event in await house.events("policy.loaded")]
    assert versions == [first, (await house.policy.current()).version]
    (house.home / "policy.toml").unlink()
    assert (await house.policy.current()).version == BUILT_IN


@pytest.mark.parametrize("wrong", ["default = ", 'default = "all"\n', "\xff", "a" * 9])
async def test_p6_a_wrong_file_keeps_the_last_good_one_and_raises_the_alarm(
    house: House, wrong: str
) -> None:
    one = await house.join(1)
    house.write_policy('default = "batch"\n')
    good = await house.policy.current()
    (house.home / "policy.toml").write_bytes(wrong.encode("latin-1"))
    assert (await house.ask(one)).wanted.rank == 0
    now = await house.policy.current()
    assert (now.policy, now.version) == (good.policy, good.version)
    assert now.problem.startswith("policy.toml")
    (event,) = await house.events("policy.refused")
    assert event.data["problem"] == now.problem
    await house.ask(one, "task:b")
    assert len(await house.events("policy.refused")) == 1


async def test_p6_a_file_that_was_never_good_leaves_the_default(house: House) -> None:
    house.write_policy("broken")
    fresh = Rulebook(house.home / "policy.toml")
    assert fresh.edition().policy.default == 1
    assert fresh.edition().problem


async def test_p5_explain_answers_what_acquire_then_does(house: House) -> None:
    house.write_policy('queue = 1\n[roles]\nci = "batch"\n[classes.normal]\nleases = 1\n')
    one, two, low = await house.join(1), await house.join(2), await house.join(3, role="ci")
    lines: list[asyncio.Task[object]] = []

    async def both(by: Principal, *resources: str, **more: object) -> tuple[str, str]:
        request = Request(resources, **more)  # type: ignore[arg-type]
        before = len(await house.events())
        found = await house.policy.explain(by, request)
        assert len(await house.events()) == before
        task = await house.queued(by, *resources, **{"wait_seconds": 0, **more})
        if found.answer == "queued":
            lines.append(task)
        else:
            try:
                await task
            except MufakatError as problem:
                assert problem.code == {"refused": problem.code}.get(found.answer, found.answer)
                assert found.rule in {problem.detail.get("rule"), Rule.DEADLOCK}
            else:
                assert found.answer in {"granted", "renewed"}
        last = (
            await house.events("lease.granted", "lease.renewed", "lease.refused", "lease.queued")
        )[-1]
        assert last.data["rule"] == found.rule
        return found.answer, found.rule.value

    assert await both(one, "task:a") == ("granted", "free")
    assert await both(one, "task:a") == ("renewed", "same_request")
    assert await both(one, "task:b") == ("refused", "budget")
    assert await both(two, "task:b") == ("granted", "free")
    assert await both(low, "task:a") == ("held", "held")
    assert await both(low, f"file:{house.project}/**") == ("refused", "too_broad")
    assert await both(low, "task:a", wait_seconds=600) == ("queued", "waits")
    house.write_policy("queue = 1\n")
    assert await both(two, "task:a", wait_seconds=600) == ("refused", "queue_full")
    house.write_policy("queue = 9\n")
    assert await both(two, "task:a", wait_seconds=600) == ("queued", "waits")
    assert await both(one, "task:b", wait_seconds=600) == ("deadlock", "deadlock")
    for task in lines:
        task.cancel()
    await asyncio.wait(lines)


async def test_p1_explain_says_that_a_role_is_claimed_and_not_verified(house: House) -> None:
    house.write_policy('[roles]\nfire = "incident"\n')
    claimed = await house.join(1, role="fire", claimed=True)
    granted = await house.join(2, role="fire")
    request = Request(("task:a",))
    found = await house.policy.explain(claimed, request)
    assert (found.name, found.clamped) == ("normal", False)
    assert found.note == "The role fire is claimed, not verified: it gives the class normal."
    assert (await house.ask(claimed)).wanted.rank == 1
    verified = await house.policy.explain(granted, request)
    assert (verified.name, verified.note) == ("incident", "")
    house.write_policy('trust_claimed_roles = true\n[roles]\nfire = "incident"\n')
    assert (await house.policy.explain(claimed, request)).name == "incident"


async def test_high_traffic_shortens_leases_until_it_is_quiet(house: House) -> None:
    house.write_policy(
        "[high_traffic]\ndepth_on = 2\ndepth_off = 0\nwait_on_seconds = 9\n"
        "wait_off_seconds = 5\nmax_ttl_seconds = 60\n"
    )
    crowd = [await house.join(number) for number in range(5)]
    await house.ask(crowd[0])
    waiting = [await house.queued(by) for by in crowd[1:3]]
    assert (await house.ask(crowd[3], "task:b")).wanted.ttl == 60_000
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    assert (await house.ask(crowd[4], "task:c")).wanted.ttl == 900_000
    switched = [event.data["on"] for event in await house.events("policy.high_traffic")]
    assert switched == [True, False]
