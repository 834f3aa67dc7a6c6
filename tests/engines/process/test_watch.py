"""Watching processes that are not ours: by the kernel's word, and by looking where it has none."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mufakat.engines.process import watch
from mufakat.engines.process.watch import LocalProcesses

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[True, False], ids=["pidfd", "looking"])
def processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> LocalProcesses:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.05)
    return LocalProcesses(pidfd=request.param)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        if started.stdin:
            started.stdin.close()


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_an_end_is_told_once(
    processes: LocalProcesses, process: subprocess.Popen[bytes]
) -> None:
    told: list[int] = []
    ended = asyncio.Event()

    def tell() -> None:
        told.append(1)
        ended.set()

    stop = processes.watch(process.pid, processes.start_of(process.pid), ended=tell)
    await asyncio.sleep(0.2)
    assert told == []
    process.kill()
    await asyncio.wait_for(ended.wait(), 10)
    await asyncio.sleep(0.2)
    assert told == [1]
    stop()
    stop()


async def test_a_zombie_runs_no_longer(
    processes: LocalProcesses, process: subprocess.Popen[bytes]
) -> None:
    start = processes.start_of(process.pid)
    assert start > 0
    process.kill()
    await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert processes.start_of(process.pid) == 0


@pytest.mark.parametrize("start", [1, 0])
async def test_another_process_under_the_same_pid_is_not_taken_for_it(
    processes: LocalProcesses, start: int
) -> None:
    ended = asyncio.Event()
    processes.watch(os.getpid(), start, ended=ended.set)
    await asyncio.wait_for(ended.wait(), 10)


async def test_who_gives_up_watching_is_told_nothing_and_holds_nothing(
    processes: LocalProcesses, process: subprocess.Popen[bytes]
) -> None:
    told: list[int] = []
    start, before = processes.start_of(process.pid), handles()
    stop = processes.watch(process.pid, start, ended=lambda: told.append(1))
    stop()
    stop()
    process.kill()
    await asyncio.sleep(0.2)
    assert told == [] and handles() == before


async def test_nobody_is_no_process(processes: LocalProcesses) -> None:
    assert processes.start_of(0) == processes.start_of(-5) == processes.start_of(2**22 + 1) == 0


async def test_this_life_of_the_machine_has_a_name(processes: LocalProcesses) -> None:
    assert processes.boot() == processes.boot() != ""
