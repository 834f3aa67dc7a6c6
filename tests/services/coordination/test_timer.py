"""The timer: deaths, expiries and deadlines happen though nobody calls, and without polling."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from equipment import coordination_records as make
from mufakat.core.base import Millis
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.sending import Sending
from mufakat.core.coordination.state import On, State
from mufakat.core.secrets import scrub
from mufakat.engines.process import watch
from mufakat.engines.process.watch import LocalProcesses
from mufakat.services.coordination import inbox
from mufakat.services.coordination.mailbox import Inbox
from services.coordination.crowd import PERSON, Crowd, crowd_in, eventually

pytestmark = pytest.mark.anyio
LATE = 3 * 250
"""Milliseconds after which something due is late, with the margin of all deadlines."""


@pytest.fixture
async def crowd(tmp_path: Path) -> AsyncIterator[Crowd]:
    async with crowd_in(tmp_path / "home", tmp_path) as opened:
        yield opened


@pytest.fixture
def agent_process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs until it is told to end."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdin:
            process.stdin.close()


async def goes(crowd: Crowd, name: str, on: On) -> Instance:
    """Wait until an agent is gone for that reason."""

    async def gone() -> bool:
        return (await crowd.now(name)).standing.on is on

    await eventually(gone)
    return await crowd.now(name)


async def hold(crowd: Crowd, holder: str, *, seconds: float) -> str:
    """Let somebody hold something for some time; answers the lease."""

    ttl = round(seconds * 1000)
    await crowd.store.write(lambda tx: make.grant(tx, "l_1", "custom:x", holder=holder, ttl=ttl))
    return "l_1"


@pytest.mark.parametrize("pidfd", [True, False])
async def test_c1_the_death_of_a_process_is_seen_at_once(
    crowd: Crowd,
    agent_process: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    pidfd: bool,
) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(
        "services.coordination.crowd.LocalProcesses", lambda: LocalProcesses(pidfd=pidfd)
    )
    by, joined = await crowd.join(session="s-1", pid=agent_process.pid)
    assert joined.binding.pid == agent_process.pid and joined.binding.pid_start > 0
    lease = await hold(crowd, by.identity, seconds=600)
    timer = crowd.timer()
    timer.start()
    try:
        await asyncio.sleep(0.2)
        assert (await crowd.now(by.identity)).standing.state is State.STARTING
        agent_process.kill()
        await goes(crowd, by.identity, On.CRASHED)
    finally:
        await timer.close()
    ended = await crowd.store.read(lambda tx: tx.leases.get(lease))
    assert ended is not None and ended.ended is not None, "certain death frees what it held"


async def test_c1_a_process_that_died_while_no_server_ran_is_found_at_the_start(
    tmp_path: Path, agent_process: subprocess.Popen[bytes]
) -> None:
    async with crowd_in(tmp_path / "home", tmp_path) as crowd:
        by, _ = await crowd.join(session="s-1", pid=agent_process.pid)
    agent_process.kill()
    agent_process.wait()
    async with crowd_in(tmp_path / "home", tmp_path) as crowd:
        timer = crowd.timer()
        timer.start()
        try:
            await goes(crowd, by.identity, On.CRASHED)
        finally:
            await timer.close()


async def test_an_agent_of_the_machines_earlier_life_has_crashed(
    crowd: Crowd, agent_process: subprocess.Popen[bytes]
) -> None:
    by, joined = await crowd.join(session="s-1", pid=agent_process.pid)
    earlier = dataclasses.replace(joined.binding, boot="another boot")
    await crowd.store.write(
        lambda tx: tx.instances.keep(dataclasses.replace(joined, binding=earlier))
    )
    timer = crowd.timer()
    timer.start()
    try:
        await goes(crowd, by.identity, On.CRASHED)
    finally:
        await timer.close()


@pytest.mark.parametrize(
    "claim",
    [
        {"pid": os.getpid(), "pid_start": 1},
        {"pid": 2**22 + 1},
        {"pid": -1},
    ],
)
async def test_a_pid_that_names_no_process_here_is_not_kept(
    crowd: Crowd, claim: dict[str, int]
) -> None:
    _, joined = await crowd.join(session="s-1", **claim)
    assert joined.binding.pid <= 0


async def test_a_session_that_came_back_as_another_process_has_not_crashed(
    crowd: Crowd, agent_process: subprocess.Popen[bytes]
) -> None:
    by, _ = await crowd.join(session="s-1", pid=agent_process.pid)
    timer = crowd.timer()
    timer.start()
    try:
        await asyncio.sleep(0.2)
        again, _ = await crowd.join(session="s-1", pid=os.getpid())
        agent_process.kill()
        await asyncio.sleep(0.3)
        assert (await crowd.now(again.identity)).standing.state is State.STARTING
    finally:
        await timer.close()
    assert again.identity == by.identity


async def test_c4_who_is_silent_for_long_is_lost_but_keeps_its_leases(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    other, _ = await crowd.join(session="s-2")
    lease = await hold(crowd, other.identity, seconds=600)
    timer = crowd.timer(quiet_seconds=0.2)
    timer.start()
    try:
        await goes(crowd, by.identity, On.LOST)
        assert (await crowd.now(other.identity)).standing.state is State.STARTING
    finally:
        await timer.close()
    held = await crowd.store.read(lambda tx: tx.leases.get(lease))
    assert held is not None and held.ended is None
    assert (await crowd.now(PERSON)).standing.state is State.IDLE


async def test_t3_a_lease_ends_when_it_is_due(crowd: Crowd) -> None:
    by, _ = await crowd.join()
    timer = crowd.timer()
    timer.start()
    try:
        await asyncio.sleep(0.1)
        lease = await hold(crowd, by.identity, seconds=0.4)
        due = (await crowd.store.read(lambda tx: tx.leases.get(lease))).expires
        # A grant is announced, which is what wakes the timer.
        await crowd.report(by, State.WORKING)
        await eventually(lambda: crowd.events("lease.expired"))
    finally:
        await timer.close()
    at = (await crowd.events("lease.expired"))[0].at
    assert 0 <= at - due <= LATE


async def test_a_deadline_is_told_to_the_sender(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    other, _ = await crowd.join(session="s-2")
    mail = Inbox(crowd.store, scrub)
    timer = crowd.timer()
    timer.start()
    try:
        wanted = Sending((other.identity,), intent="request", body="?", deadline_seconds=0.3)
        await mail.send(by, wanted, key="k-1")

        async def told() -> bool:
            return bool(await mail.read(by))

        await eventually(told)
    finally:
        await timer.close()


async def test_nothing_is_polled_while_nothing_is_due(crowd: Crowd) -> None:
    await crowd.join()
    timer = crowd.timer()
    looks = 0
    read = crowd.store.read

    async def counted(query):
        nonlocal looks
        looks += 1
        return await read(query)

    crowd.store.read = counted  # type: ignore[method-assign]
    timer.start()
    try:
        await asyncio.sleep(1.5)
    finally:
        await timer.close()
    assert looks <= 3


async def test_a_fault_in_one_duty_ends_none_of_the_others(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mufakat.services.coordination.timer.AGAIN", 0.05)
    overdue, faults = inbox.overdue, 0

    def faulty(tx) -> int:
        nonlocal faults
        faults += 1
        if faults == 1:
            raise RuntimeError("a fault")
        return overdue(tx)

    monkeypatch.setattr(inbox, "overdue", faulty)
    by, _ = await crowd.join(session="s-1")
    timer = crowd.timer(quiet_seconds=0.2)
    timer.start()
    try:
        await goes(crowd, by.identity, On.LOST)
    finally:
        await timer.close()
    assert "a fault" in caplog.text


async def test_closing_a_timer_twice_or_before_its_start_is_harmless(crowd: Crowd) -> None:
    timer = crowd.timer()
    await timer.close()
    timer.start()
    await timer.close()
    await timer.close()


async def test_c6_a_call_of_somebody_lost_brings_it_back(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    timer = crowd.timer(quiet_seconds=0.1)
    timer.start()
    try:
        await goes(crowd, by.identity, On.LOST)
    finally:
        await timer.close()
    assert isinstance(by, Principal)
    assert (await crowd.report(by, State.WORKING)).standing.state is State.WORKING


async def test_what_was_due_is_done_with(crowd: Crowd) -> None:
    """Else it would be tried at every look, for ever."""
    by, _ = await crowd.join(session="s-1")
    other, _ = await crowd.join(session="s-2")
    mail = Inbox(crowd.store, scrub)
    for n, more in enumerate(
        ({"deadline_seconds": 0.05}, {"ttl_seconds": 0.05}, {"intent": "inform"}, {"hold": True})
    ):
        to = "who comes later" if "hold" in more else other.identity
        wanted = Sending((to,), **{"intent": "request", "body": "?", **more, "ttl_seconds": 0.05})
        await mail.send(by, wanted, key=f"k-{n}")
    await mail.claim(other, limit=1)
    past = Millis(1)

    def lapse(tx) -> None:
        make.grant(tx, "l_1", "custom:a", holder=by.identity, expires=past)
        make.grant(tx, "l_2", "custom:b", holder=by.identity, claim_until=past)
        make.grant(tx, "l_3", "custom:c", holder=by.identity, preempt_at=past)
        tx.leases.enqueue(make.waiter("w_1", "custom:c", holder=other.identity, until=past))

    await crowd.store.write(lapse)
    await asyncio.sleep(0.1)
    timer = crowd.timer()
    before = await crowd.store.read(timer._plan)  # noqa: SLF001
    assert before.due is not None and before.due <= before.now
    await crowd.store.write(timer._due)  # noqa: SLF001
    after = await crowd.store.read(timer._plan)  # noqa: SLF001
    assert after.due is None or after.due > after.now
