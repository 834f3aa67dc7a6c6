"""Nothing leaves a run's tree: not by its own session, a double fork, or an empty environment."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engines.process import measured
from mufakat.engines.process import procfs, spawn, stop, support
from mufakat.engines.process.command import Ended, Limits, Line

MARGIN = 3
SHORT = Limits(idle=30, total=30, grace=0.5, drain=0.3)
LINUX = support.platform_support()


def kill_marked(run_id: str) -> None:
    for pid in measured.marked(run_id):
        process = procfs.read(pid)
        if process is not None:
            procfs.kill(process, signal.SIGKILL)


@pytest.mark.anyio
@pytest.mark.parametrize("behaviour", ["setsid_grandchild", "double_fork"])
async def test_d11_twin_a_group_kill_leaves_survivors(tmp_path: Path, behaviour: str) -> None:
    command = measured.fake(tmp_path, behaviour)
    try:
        run = await measured.measure(command, limits=SHORT, means=support.GROUP_ONLY)
        assert len(run.alive) == 1
    finally:
        kill_marked(command.run_id)


@pytest.mark.anyio
@pytest.mark.parametrize("walk", [True, False], ids=["walk", "twin_without_walk"])
async def test_x3_a_daemon_without_any_mark(tmp_path: Path, walk: bool) -> None:
    cancel = asyncio.Event()
    means = dataclasses.replace(LINUX, subreaper=walk)

    async def on_line(line: Line) -> None:
        if line.text == "up":
            cancel.set()

    daemon = "(setsid env -i sh -c 'sleep 60.25 & echo $! >pid' >/dev/null 2>&1 &)"
    script = f"{daemon}; while ! test -s pid; do sleep 0.02; done; echo up; sleep 60"
    command = measured.command(tmp_path, "sh", "-c", script)
    run = await measured.measure(command, limits=SHORT, cancel=cancel, on_line=on_line, means=means)
    left = procfs.read(int((tmp_path / "pid").read_text()))
    if left is not None:
        procfs.kill(left, signal.SIGKILL)
    assert run.outcome.ended is Ended.CANCELLED
    assert (left is None or not left.alive) is walk


class Stubborn(stop.Tree):
    """A tree with a process that no signal reaches: it names a start time that never was."""

    def survivors(self) -> list[procfs.Process]:
        return [procfs.Process(os.getpid(), 1, 0, 0, 0, "D")]


@pytest.mark.anyio
async def test_x3_what_cannot_be_ended_is_reported_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop, "KILL_WITHIN", 0.3)
    command = measured.command(tmp_path, "sleep", "60")
    child = spawn.start(command, LINUX)
    loop = asyncio.get_running_loop()
    before = loop.time()
    try:
        left = await stop.end(Stubborn(child, command, means=LINUX), signal.SIGTERM, grace=0.3)
        assert left == (os.getpid(),)
        assert child.exited
        assert loop.time() - before <= (0.3 + stop.KILL_WITHIN) * MARGIN
    finally:
        stop.end_now(stop.Tree(child, command, means=LINUX))
        child.reap()


@pytest.mark.anyio
async def test_x3_a_tree_that_grows_while_it_is_ended(tmp_path: Path) -> None:
    cancel = asyncio.Event()

    async def on_line(_line: Line) -> None:
        cancel.set()

    script = (
        "trap '' TERM; i=0; while test $i -lt 3000; do"
        " setsid sh -c \"trap '' TERM; sleep 60\" & i=$((i+1)); test $i = 20 && echo up;"
        " sleep 0.005; done; sleep 60"
    )
    command = measured.command(tmp_path, "sh", "-c", script)
    run = await measured.measure(command, limits=SHORT, cancel=cancel, on_line=on_line)
    assert run.outcome.ended is Ended.CANCELLED
    assert run.outcome.leftovers == ()
    assert run.alive == []
    assert run.seconds <= (SHORT.grace + 4) * MARGIN


@pytest.mark.anyio
async def test_the_same_run_id_in_another_home_is_another_run(tmp_path: Path) -> None:
    first = measured.command(tmp_path, "sleep", "0.4")
    other = dataclasses.replace(
        first,
        argv=("sh", "-c", "sleep 0.8; exit 7"),
        home_id="other-home",
        spool=tmp_path / "other.spool",
    )
    ending = asyncio.create_task(measured.measure(first, limits=SHORT))
    await asyncio.sleep(0.2)
    assert (await measured.measure(other)).outcome.exit_code == 7
    assert (await ending).outcome.exit_code == 0


SUBREAPER = """
import asyncio, os, pathlib, sys
from mufakat.engines.process import procfs, spawn, stop, supervise, support
from mufakat.engines.process.command import Command, Limits
folder = pathlib.Path(sys.argv[1])

async def ignore(line):
    pass

async def one(number):
    daemon = "(setsid env -i sh -c 'sleep 60.25 & echo $! >pid%d' >/dev/null 2>&1 &)"
    script = (daemon + "; while ! test -s pid%d; do sleep 0.02; done; exit %d") % ((number,) * 3)
    env = {"PATH": os.environ["PATH"]}
    spool = folder / f"raw{number}"
    command = Command(("sh", "-c", script), folder, env, f"r{number}", str(folder), spool)
    limits = Limits(idle=20, total=20, grace=1)
    return await supervise.run(command, limits=limits, cancel=asyncio.Event(), on_line=ignore)

async def main():
    assert support.become_subreaper()
    other = await asyncio.create_subprocess_exec("sh", "-c", "sleep 1; exit 9")
    outcomes = await asyncio.gather(*(one(number) for number in range(8)))
    assert [outcome.exit_code for outcome in outcomes] == list(range(8)), outcomes
    assert await other.wait() == 9
    below = procfs.below([os.getpid()], procfs.table())
    assert below == set(), below
    for number in range(8):
        process = procfs.read(int((folder / f"pid{number}").read_text()))
        assert process is None or not process.alive

asyncio.run(main())
"""


def test_x2_a_subreaper_keeps_no_orphan_no_zombie_and_steals_no_exit_code(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SUBREAPER, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
