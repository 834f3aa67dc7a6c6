"""States: reports in one step with what follows, and none that is of the past."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mufakat.core.base import MufakatError, NotAllowed, NotFound, StaleState, Unauthenticated
from mufakat.core.coordination import state
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On, Report, State, Why
from mufakat.services.coordination import states
from services.coordination.crowd import Crowd, crowd_in, eventually

pytestmark = pytest.mark.anyio


@pytest.fixture
async def crowd(tmp_path: Path) -> AsyncIterator[Crowd]:
    async with crowd_in(tmp_path / "home", tmp_path) as opened:
        yield opened


async def test_a_report_is_kept_and_announced_at_its_revision(crowd: Crowd) -> None:
    by, _ = await crowd.join()
    after = await crowd.report(by, State.WORKING, detail="reads\nthe\x1b[31m code")
    assert (await crowd.now(by.identity)).standing == after.standing
    last = (await crowd.events("agent.state"))[-1]
    assert last.revision == after.standing.revision
    assert (last.data["from"], last.data["to"]) == ("starting", "working")
    assert after.standing.detail == "reads the code"


async def test_s2_the_same_state_and_detail_is_no_event(crowd: Crowd) -> None:
    by, _ = await crowd.join()
    await crowd.report(by, State.WORKING)
    before = len(await crowd.events())
    await crowd.report(by, State.WORKING)
    assert len(await crowd.events()) == before


async def test_s2_a_stale_report_is_answered_with_the_present_row(crowd: Crowd) -> None:
    by, joined = await crowd.join()
    seen = joined.standing.revision
    await crowd.report(by, State.WORKING, expect=seen)
    with pytest.raises(StaleState) as stale:
        await crowd.report(by, State.IDLE, expect=seen)
    current = stale.value.detail["current"]
    assert current["state"] == "working" and current["revision"] > seen
    await crowd.report(by, State.IDLE, expect=current["revision"])


async def test_s3_a_late_idle_of_an_earlier_run_is_refused(crowd: Crowd) -> None:
    by, first = await crowd.join(session="s-1")
    again, _ = await crowd.join(session="s-1")
    await crowd.report(again, State.WORKING)
    late = Report(State.IDLE, run=first.standing.run, ordinal=99)
    with pytest.raises(StaleState, match=Why.EARLIER_RUN):
        await crowd.store.write(lambda tx: states.move(tx, by.identity, late))
    assert (await crowd.now(by.identity)).standing.state is State.WORKING


async def test_s1_offline_is_final_until_the_session_joins_again(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    await crowd.report(by, State.OFFLINE)
    for to in (State.WORKING, State.IDLE, State.STARTING):
        with pytest.raises(StaleState):
            await crowd.report(by, to)
    again, _ = await crowd.join(session="s-1")
    assert (await crowd.report(again, State.WORKING)).standing.state is State.WORKING


async def test_row_18_nobody_reports_for_another(crowd: Crowd) -> None:
    by, _ = await crowd.join()
    _, other = await crowd.join()
    with pytest.raises(NotAllowed):
        await crowd.states.report(by, other.identity, Report(State.IDLE))
    assert [event.data["act"] for event in await crowd.events("access.refused")] == ["state"]
    reported = await crowd.states.report(crowd.person, other.identity, Report(State.WORKING))
    assert reported.standing.state is State.WORKING


async def test_a_report_of_nobody_is_refused(crowd: Crowd) -> None:
    with pytest.raises(NotFound):
        await crowd.states.report(crowd.person, "codex@box:000000", Report(State.IDLE))


async def test_row_20_a_run_that_is_over_reports_nothing(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    old_run = Principal(Right.AGENT, by.identity, epoch=1, run="t_of_yesterday")
    with pytest.raises(Unauthenticated):
        await crowd.report(old_run, State.IDLE)


async def test_c6_an_agent_that_was_only_missing_goes_on(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    await crowd.report(by, State.WORKING)
    await crowd.store.write(lambda tx: states.depart(tx, by.identity, On.LOST))
    back = await crowd.report(by, State.IDLE)
    assert back.standing.state is State.IDLE and back.epoch == 1
    await crowd.store.write(lambda tx: states.depart(tx, by.identity, On.CRASHED))
    with pytest.raises(StaleState):
        await crowd.report(by, State.IDLE)


async def test_going_twice_is_going_once_and_certainty_replaces_suspicion(crowd: Crowd) -> None:
    by, _ = await crowd.join()
    for on, told in ((On.LOST, 1), (On.LOST, 1), (On.CRASHED, 2), (On.EXITED, 2), (On.LOST, 2)):
        await crowd.store.write(lambda tx, on=on: states.depart(tx, by.identity, on))
        ended = [one for one in await crowd.events("agent.state") if one.data["to"] == "offline"]
        assert len(ended) == told
    assert (await crowd.now(by.identity)).standing.on is On.CRASHED


async def test_a_snapshot_and_the_log_after_it_are_the_whole_story(crowd: Crowd) -> None:
    agents = [(await crowd.join(session=f"s-{n}"))[0] for n in range(5)]
    told: dict[str, str] = {}

    async def work() -> None:
        for turn in range(40):
            by = agents[turn % 5]
            await crowd.report(by, State.WORKING if turn % 2 else State.IDLE, detail=str(turn))

    working = asyncio.create_task(work())
    await asyncio.sleep(0.02)
    snapshot = await crowd.states.snapshot()
    await working
    told = {one.identity: one.standing.state.value for one in snapshot.instances}
    for event in await crowd.events("agent.state"):
        if event.revision > snapshot.revision:
            told[event.subject] = event.data["to"]
    for by in agents:
        assert told[by.identity] == (await crowd.now(by.identity)).standing.state.value


async def shuffled(crowd: Crowd, chance: random.Random) -> tuple[State, State]:
    """Send a run's reports in disorder, some twice; answers what stands and what came last."""
    by, joined = await crowd.join()
    moves = [State.WORKING, State.IDLE, State.BLOCKED]
    reports = [(number, chance.choice(moves)) for number in range(1, 13)]
    for number, to in chance.sample([*reports, *reports], 24):
        try:
            await crowd.report(by, to, ordinal=number, run=joined.standing.run)
        except StaleState:
            continue
    return (await crowd.now(by.identity)).standing.state, reports[-1][1]


async def test_s3_reports_in_disorder_end_where_the_last_one_says(crowd: Crowd) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for _ in range(20):
        stands, last = await shuffled(crowd, chance)
        assert stands is last, f"seed {seed}"


async def test_twin_s3_without_the_order_of_reports_a_stale_state_stands(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = state._refusal  # noqa: SLF001

    def careless(standing: state.Standing, report: Report) -> Why | None:
        why = fault(standing, report)
        return None if why is Why.LATE else why

    monkeypatch.setattr(state, "_refusal", careless)
    chance = random.Random(7)
    assert any(
        [stands is not last for stands, last in [await shuffled(crowd, chance) for _ in range(20)]]
    )


async def test_a_step_that_fails_leaves_neither_state_nor_event(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    by, _ = await crowd.join()
    await crowd.report(by, State.WORKING)
    before = (await crowd.now(by.identity)).standing, len(await crowd.events())

    def broken(*_: object) -> None:
        raise MufakatError("broken")

    monkeypatch.setattr("mufakat.services.coordination.reactions.changed", broken)
    with pytest.raises(MufakatError, match="broken"):
        await crowd.report(by, State.IDLE)
    assert ((await crowd.now(by.identity)).standing, len(await crowd.events())) == before


async def test_a_sub_agent_takes_part_through_its_instance(crowd: Crowd) -> None:
    by, joined = await crowd.join(session="s-1")
    name = f"{by.identity}/explorer-1"
    part = await crowd.states.report(by, name, Report(State.WORKING))
    assert part.parent == by.identity and part.standing.run == joined.standing.run
    assert (await crowd.now(by.identity)).standing.state is State.STARTING
    other, _ = await crowd.join(session="s-2")
    with pytest.raises(NotAllowed):
        await crowd.states.report(other, name, Report(State.IDLE))
    assert (await crowd.agents.get(by.identity[:-1])).identity == by.identity


async def test_sub_agents_go_with_their_instance_and_its_run(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    name = f"{by.identity}/explorer-1"
    await crowd.states.report(by, name, Report(State.WORKING))
    again, _ = await crowd.join(session="s-1")
    assert (await crowd.now(name)).standing.on is On.EXITED
    await crowd.states.report(again, name, Report(State.WORKING))
    await crowd.store.write(lambda tx: states.depart(tx, by.identity, On.CRASHED))
    assert (await crowd.now(name)).standing.on is On.CRASHED


@pytest.mark.parametrize("part", ["", "a/b", "a b", "\u0430"])
async def test_a_sub_agent_has_a_plain_name(crowd: Crowd, part: str) -> None:
    by, _ = await crowd.join(session="s-1")
    with pytest.raises(NotFound):
        await crowd.states.report(by, f"{by.identity}/{part}", Report(State.WORKING))


async def test_who_waits_for_a_lease_is_blocked_for_as_long(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    await crowd.report(by, State.WORKING)
    granted = asyncio.Event()
    waits = asyncio.create_task(
        crowd.states.blocking(by, On.LEASE, granted.wait, detail="repo:api")
    )

    async def blocked() -> bool:
        return (await crowd.now(by.identity)).standing.state is State.BLOCKED

    await eventually(blocked)
    standing = (await crowd.now(by.identity)).standing
    assert (standing.on, standing.detail) == (On.LEASE, "repo:api")
    granted.set()
    assert await waits
    assert (await crowd.now(by.identity)).standing.state is State.WORKING


async def test_what_need_not_wait_blocks_nobody(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    await crowd.report(by, State.WORKING)
    before = len(await crowd.events())
    assert (
        await crowd.states.blocking(by, On.LEASE, lambda: asyncio.sleep(0, "granted"), detail="x")
        == "granted"
    )
    assert len(await crowd.events()) == before


async def test_a_newer_word_is_kept_when_the_wait_is_over(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    await crowd.report(by, State.WORKING)
    waits = asyncio.create_task(
        crowd.states.blocking(by, On.AGENT, lambda: asyncio.sleep(60), detail="")
    )

    async def blocked() -> bool:
        return (await crowd.now(by.identity)).standing.state is State.BLOCKED

    await eventually(blocked)
    await crowd.report(by, State.IDLE)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert (await crowd.now(by.identity)).standing.state is State.IDLE
