"""After kill -9 of a server nothing of its runs stays alive, and nothing else is touched."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mufakat.engines.process import procfs, sweep

VICTIM = Path(__file__).with_name("victim.py")
MARGIN = 3
TREE = 3


@pytest.fixture
def home() -> Iterator[str]:
    """A home mark; whatever still carries it at the end is ended."""
    mark = uuid.uuid4().hex
    yield mark
    for left in sweep.find(mark):
        procfs.kill(left.process, signal.SIGKILL)


async def killed_server(folder: Path, home: str, *, trees: int, dying: bool = True) -> None:
    argv = [sys.executable, str(VICTIM), str(folder), str(trees), home, "yes" if dying else "no"]
    server = subprocess.Popen(argv)  # noqa: ASYNC220
    try:
        await until((folder / "up").exists, seconds=30)
        assert len(sweep.find(home)) == trees * TREE
    finally:
        server.kill()
        server.wait()


async def until(done: Callable[[], bool], *, seconds: float) -> bool:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end:
        if done():
            return True
        await asyncio.sleep(0.02)
    return done()


@pytest.mark.anyio
async def test_q10_five_trees_of_a_killed_server_are_ended(tmp_path: Path, home: str) -> None:
    await killed_server(tmp_path, home, trees=5)
    loop = asyncio.get_running_loop()
    started = loop.time()
    swept = await sweep.end_orphans(home, ())
    assert loop.time() - started <= 3 * MARGIN
    assert swept.left == ()
    # The five leaders died with their parent; what they had started had to be found.
    assert len(swept.found) >= 5 * (TREE - 1)
    assert sweep.find(home) == []


@pytest.mark.anyio
async def test_c5_a_live_run_is_left_alone(tmp_path: Path, home: str) -> None:
    await killed_server(tmp_path, home, trees=2)
    swept = await sweep.end_orphans(home, {"run-1"})
    assert swept.left == ()
    assert {marked.run_id for marked in sweep.find(home)} == {"run-1"}


@pytest.mark.anyio
async def test_another_home_is_left_alone(tmp_path: Path, home: str) -> None:
    await killed_server(tmp_path, home, trees=1)
    assert await sweep.end_orphans(home + "-other", ()) == sweep.Swept((), ())
    assert sweep.find(home) != []


@pytest.mark.anyio
@pytest.mark.parametrize("dying", [True, False], ids=["x2", "twin_without_pdeathsig"])
async def test_d11_leader_dies_with_the_server(tmp_path: Path, home: str, dying: bool) -> None:
    await killed_server(tmp_path, home, trees=1, dying=dying)
    # Leader, own session, daemon: with the wrapper's help only the last two outlive the server.
    gone = await until(lambda: len(sweep.find(home)) == TREE - 1, seconds=1)
    assert gone is dying


def test_a_server_that_an_agent_started_spares_itself(home: str) -> None:
    script = (
        "import asyncio\n"
        "from mufakat.engines.process import sweep\n"
        f"print(asyncio.run(sweep.end_orphans({home!r}, ())))"
    )
    marks = {procfs.HOME_MARK: home, procfs.RUN_MARK: "outer"}
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1"; echo alive', sys.executable, script],
        env=os.environ | marks,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stdout == "Swept(found=(), left=())\nalive\n"


def test_a_reused_pid_is_not_signalled() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        process = procfs.read(child.pid)
        assert process is not None
        older = procfs.Process(child.pid, process.start - 1, 0, 0, 0, "S")
        procfs.kill(older, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            child.wait(0.2)
        assert child.poll() is None
        procfs.kill(process, signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL
    finally:
        child.kill()
        child.wait()
