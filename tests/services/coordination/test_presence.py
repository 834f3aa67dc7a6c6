"""A session whose last connection was cut: missed for 20 seconds, then lost, and back by a call."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from equipment import coordination_records as make
from equipment.store_records import Readings
from mufakat.core.coordination import presence as rules
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On, State
from mufakat.services.coordination import agents
from mufakat.services.coordination.agents import Joined
from mufakat.services.coordination.presence import CONNECTED, DISCONNECTED, Presence
from mufakat.storage.store import open_store
from services.coordination.crowd import Crowd, gather

pytestmark = pytest.mark.anyio
GRACE = rules.GRACE_MS


@dataclass
class House:
    """One server over all its lives, with a clock that only a test moves."""

    folder: Path
    server: str = "box"
    clock: Readings = field(default_factory=lambda: Readings(wall_ms=1_000_000))
    streams: dict[str, list[AsyncExitStack]] = field(default_factory=dict)
    closing: bool = False

    async def start(self) -> None:
        path = self.folder / "home" / "mufakat.db"
        store = await open_store(path, readings=self.clock, reserve_bytes=0)
        self.crowd: Crowd = gather(store, self.folder)
        await self.crowd.agents.prepare()
        self.presence = Presence(store, server=self.server)
        await self.presence.recover()
        self.timer = self.crowd.timer(cut=self.presence.lost_at)
        self.closing = False

    async def stop(self) -> None:
        """End as a killed server does: nobody is told that the streams end."""
        self.closing = True
        for stack in [one for held in self.streams.values() for one in held]:
            await stack.aclose()
        self.streams.clear()
        await self.crowd.store.close()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def join(self, session: str, **more: object) -> tuple[Principal, Joined]:
        joined = await self.crowd.joined(session=session, **more)
        return await self.crowd.agents.authenticate(joined.token), joined

    async def open(self, by: Principal) -> AsyncExitStack:
        stack = AsyncExitStack()
        await stack.enter_async_context(self.presence.hold(by, closing=lambda: self.closing))
        self.streams.setdefault(by.identity, []).append(stack)
        return stack

    async def cut(self, by: Principal) -> None:
        await self.streams[by.identity].pop().aclose()

    async def pass_time(self, millis: int) -> None:
        """Move the clock on, and do what is due."""
        self.clock.elapsed_ms += millis
        await self.crowd.store.write(self.timer._due)  # noqa: SLF001

    async def now(self, by: Principal) -> Instance:
        return await self.crowd.now(by.identity)

    async def lost(self, by: Principal) -> bool:
        return (await self.now(by)).standing.on is On.LOST


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def test_c2_a_cut_session_is_lost_after_the_grace_and_keeps_its_leases(house: House) -> None:
    by, _ = await house.join("s-1")
    store = house.crowd.store
    await store.write(lambda tx: make.grant(tx, "l_1", "custom:x", holder=by.identity, ttl=60_000))
    granted = await store.read(lambda tx: tx.leases.get("l_1"))
    await house.open(by)
    await house.pass_time(10 * 60_000 // 20)
    assert not await house.lost(by)
    before = await store.read(lambda tx: tx.leases.get("l_1"))
    assert before is not None and before.ended is None
    await house.cut(by)
    await house.pass_time(GRACE - 1)
    assert not await house.lost(by)
    await house.pass_time(1)
    assert await house.lost(by)
    after = await store.read(lambda tx: tx.leases.get("l_1"))
    assert after is not None and granted is not None
    assert (after.ended, after.expires) == (None, granted.expires)
    await house.pass_time(60_000)
    over = await store.read(lambda tx: tx.leases.get("l_1"))
    assert over is not None and over.ended is not None


async def only_the_last_counts(house: House) -> None:
    by, _ = await house.join("s-1")
    await house.open(by)
    await house.open(by)
    await house.cut(by)
    await house.pass_time(10 * GRACE)
    assert not await house.lost(by)
    await house.cut(by)
    await house.pass_time(GRACE)
    assert await house.lost(by)


async def test_c2_only_the_end_of_the_last_connection_counts(house: House) -> None:
    await only_the_last_counts(house)


async def a_call_ends_it(house: House) -> None:
    by, joined = await house.join("s-1")
    await house.open(by)
    await house.cut(by)
    await house.pass_time(GRACE // 2)
    # Sooner than the store would count a call as news.
    await house.crowd.agents.authenticate(joined.token)
    await house.pass_time(10 * GRACE)
    assert not await house.lost(by)


async def test_c2_any_call_within_the_grace_ends_the_suspicion(house: House) -> None:
    await a_call_ends_it(house)


async def test_c2_another_connection_within_the_grace_ends_it_too(house: House) -> None:
    by, _ = await house.join("s-1")
    await house.open(by)
    await house.cut(by)
    await house.pass_time(GRACE - 1)
    await house.open(by)
    await house.pass_time(10 * GRACE)
    assert not await house.lost(by)
    await house.cut(by)
    await house.pass_time(GRACE - 1)
    assert not await house.lost(by)
    await house.pass_time(1)
    assert await house.lost(by)


async def test_who_has_left_is_not_missed(house: House) -> None:
    by, _ = await house.join("s-1")
    await house.open(by)
    await house.crowd.agents.leave(by, "me")
    await house.cut(by)
    await house.pass_time(GRACE)
    assert (await house.now(by)).standing.on is On.EXITED


async def test_the_connection_of_a_superseded_session_says_nothing_of_the_next(
    house: House,
) -> None:
    old, _ = await house.join("s-1")
    await house.open(old)
    new, _ = await house.join("s-1")
    assert (new.identity, new.epoch) == (old.identity, old.epoch + 1)
    await house.cut(old)
    await house.pass_time(GRACE)
    assert not await house.lost(new)


async def missed_after_a_restart(house: House) -> None:
    by, joined = await house.join("s-1")
    other, called = await house.join("s-2")
    waiting, _ = await house.join("s-3")
    never, _ = await house.join("s-4")
    await house.open(by)
    for one in (other, waiting):
        await house.open(one)
        await house.cut(one)
    await house.pass_time(GRACE // 2)
    await house.crowd.agents.authenticate(called.token)
    await house.restart()
    await house.pass_time(GRACE - 1)
    assert not await house.lost(by), "nobody could come back while no server was there"
    assert not await house.lost(waiting)
    await house.pass_time(1)
    assert await house.lost(by)
    assert await house.lost(waiting)
    assert not await house.lost(other)
    assert not await house.lost(never)
    again = await house.crowd.agents.authenticate(joined.token)
    assert again == by


async def test_c2_a_restarted_server_misses_whom_the_one_before_it_had(house: House) -> None:
    await missed_after_a_restart(house)


async def test_c2_who_comes_back_to_the_restarted_server_is_not_lost(house: House) -> None:
    by, joined = await house.join("s-1")
    await house.open(by)
    await house.restart()
    await house.open(await house.crowd.agents.authenticate(joined.token))
    await house.pass_time(10 * GRACE)
    assert not await house.lost(by)


async def test_a_server_misses_nobody_whom_another_had(house: House) -> None:
    by, _ = await house.join("s-1")
    await house.open(by)
    await house.stop()
    house.server = "another"
    await house.start()
    await house.pass_time(GRACE)
    assert not await house.lost(by)


async def test_c6_who_was_lost_goes_on_in_the_same_session_by_any_call(house: House) -> None:
    by, joined = await house.join("s-1")
    await house.crowd.report(by, State.WORKING, ordinal=1, run=joined.instance.standing.run)
    await house.open(by)
    await house.cut(by)
    await house.pass_time(GRACE)
    assert await house.lost(by)
    assert await house.crowd.agents.authenticate(joined.token) == by
    there = await house.now(by)
    assert (there.standing.state, there.epoch) == (State.STARTING, joined.instance.epoch)
    assert there.standing.run == joined.instance.standing.run
    again = await house.crowd.report(by, State.IDLE, ordinal=2, run=there.standing.run)
    assert again.standing.state is State.IDLE


async def test_the_log_tells_of_the_first_and_the_last_connection(house: House) -> None:
    by, _ = await house.join("s-1")
    await house.open(by)
    await house.open(by)
    await house.cut(by)
    await house.cut(by)
    told = await house.crowd.events(CONNECTED, DISCONNECTED)
    assert [(event.kind, event.subject) for event in told] == [
        (CONNECTED, by.identity),
        (DISCONNECTED, by.identity),
    ]
    assert told[0].data["epoch"] == by.epoch


@dataclass
class Model:
    """What ought to be, in a few lines."""

    held: int = 0
    cut: int | None = None
    lost: bool = False

    def calls(self) -> None:
        self.cut, self.lost = None, False

    def ends(self, now: int) -> None:
        self.held -= 1
        if not self.held and not self.lost:
            self.cut = now

    def restarts(self, now: int) -> None:
        missed = not self.lost and (self.held or self.cut is not None)
        self.held, self.cut = 0, now if missed else None

    def passes(self, now: int) -> None:
        if self.cut is not None and now - self.cut >= GRACE:
            self.lost, self.cut = True, None


async def step(house: House, one: Model, everybody: list[Model], joined: Joined, do: str) -> None:
    """Do one thing with the house and with the model of whoever does it."""
    by = Principal(Right.AGENT, joined.instance.identity, joined.instance.epoch)
    match do:
        case "open" | "call":
            by = await house.crowd.agents.authenticate(joined.token)
            one.calls()
            if do == "open":
                await house.open(by)
                one.held += 1
        case "cut" if one.held:
            await house.cut(by)
            one.ends(house.clock.elapsed_ms)
        case "restart":
            await house.restart()
            for each in everybody:
                each.restarts(house.clock.elapsed_ms)


async def as_the_model_says(house: House) -> None:
    """Random lives of three sessions."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    chance = random.Random(seed)
    people = [((await house.join(f"s-{n}"))[1], Model()) for n in range(3)]
    models = [model for _, model in people]
    for _ in range(200):
        joined, model = chance.choice(people)
        do = chance.choices(["open", "cut", "call", "restart", "wait"], [4, 4, 3, 1, 6])[0]
        await step(house, model, models, joined, do)
        await house.pass_time(
            chance.choice([1, GRACE // 2, GRACE - 1, GRACE]) if do == "wait" else 0
        )
        for each in models:
            each.passes(house.clock.elapsed_ms)
        found = [(await house.crowd.now(one.instance.identity)).standing.on for one, _ in people]
        assert [on is On.LOST for on in found] == [each.lost for each in models], f"seed {seed}"


async def test_c2_random_lives_end_as_the_model_says(house: House) -> None:
    await as_the_model_says(house)


@asynccontextmanager
async def each_end(self: Presence, by: Principal, **_: object) -> AsyncIterator[None]:
    """The fault: every connection that ends is taken for the last one."""
    yield
    await self._cut((by.identity, by.epoch))  # noqa: SLF001


Check = Callable[[House], Any]
FAULTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Check]] = {
    "every end counts": (
        lambda patch: patch.setattr(Presence, "hold", each_end),
        only_the_last_counts,
    ),
    "a restart forgets": (
        lambda patch: patch.setattr(Presence, "_missed", lambda *_: {}),
        missed_after_a_restart,
    ),
    "a call soon after another is no news": (
        lambda patch: patch.setattr(agents, "expect", lambda _, there: there),
        a_call_ends_it,
    ),
    "calls do not count": (
        lambda patch: patch.setattr(
            rules, "lost_at", lambda there, cut: cut.at + GRACE if there.epoch == cut.epoch else 0
        ),
        a_call_ends_it,
    ),
    "no grace": (
        lambda patch: patch.setattr(rules, "GRACE_MS", 0),
        as_the_model_says,
    ),
    "nobody is missed": (
        lambda patch: patch.setattr(rules, "lost_at", lambda *_: None),
        as_the_model_says,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_q16_every_fault_is_found(
    house: House, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, check = FAULTS[name]
    put(monkeypatch)
    with pytest.raises(AssertionError):
        await check(house)
