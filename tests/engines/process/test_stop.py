"""A run can be ended at any time, and then all of it has ended."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engines.process import measured
from mufakat.engines.process import supervise, support
from mufakat.engines.process.command import Command, Ended, Limits, Line, Outcome

MARGIN = 3
SHORT = Limits(idle=30, total=30, grace=0.5, drain=0.3)
LINUX = support.platform_support()
EVERY_MEANS = [
    pytest.param(LINUX, id="linux"),
    pytest.param(support.Support(True, False, True, False), id="environ_sweep"),
    pytest.param(support.Support(True, True, False, True), id="walk"),
    pytest.param(support.GROUP_ONLY, id="group_only"),
]


@asynccontextmanager
async def started(
    command: Command, *, limits: Limits = SHORT, cancel: asyncio.Event | None = None
) -> AsyncIterator[tuple[asyncio.Task[Outcome], asyncio.Event]]:
    """Yield the task of a run whose handler is stuck in its first line, and that line's event."""
    stuck = asyncio.Event()

    async def on_line(_line: Line) -> None:
        stuck.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(
        supervise.run(command, limits=limits, cancel=cancel or asyncio.Event(), on_line=on_line)
    )
    await asyncio.wait_for(stuck.wait(), 30)
    yield task, stuck
    assert measured.marked(command.run_id) == []


@pytest.mark.anyio
@pytest.mark.parametrize("means", EVERY_MEANS)
async def test_x9_cancel_in_silence(tmp_path: Path, means: support.Support) -> None:
    cancel = asyncio.Event()
    asyncio.get_running_loop().call_later(0.2, cancel.set)
    command = measured.fake(tmp_path, "silence")
    run = await measured.measure(command, limits=SHORT, cancel=cancel, means=means)
    assert run.outcome.ended is Ended.CANCELLED
    assert run.outcome.exit_code == -signal.SIGTERM
    assert run.alive == []
    assert run.seconds <= 1 * MARGIN


@pytest.mark.anyio
@pytest.mark.parametrize("means", EVERY_MEANS)
async def test_x3_term_ignored(tmp_path: Path, means: support.Support) -> None:
    cancel = asyncio.Event()

    async def on_line(_line: Line) -> None:
        cancel.set()

    command = measured.fake(tmp_path, "ignores_term")
    run = await measured.measure(command, limits=SHORT, cancel=cancel, on_line=on_line, means=means)
    assert run.outcome.ended is Ended.CANCELLED
    assert run.outcome.exit_code == -signal.SIGKILL
    assert run.alive == []
    assert run.seconds <= (SHORT.grace + 1.5) * MARGIN


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.anyio
async def test_q9_cancel_with_the_usual_grace(tmp_path: Path) -> None:
    cancel = asyncio.Event()

    async def on_line(_line: Line) -> None:
        cancel.set()

    command = measured.fake(tmp_path, "ignores_term")
    run = await measured.measure(
        command, limits=Limits(idle=60, total=60), cancel=cancel, on_line=on_line
    )
    assert run.outcome.ended is Ended.CANCELLED
    assert run.alive == []
    assert run.seconds <= 6.5 * MARGIN


@pytest.mark.anyio
async def test_x9_cancel_while_the_handler_is_stuck(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    command = measured.fake(tmp_path, "huge_output", size=20)
    async with started(command, cancel=cancel) as (task, _):
        cancel.set()
        outcome = await asyncio.wait_for(task, 3 * MARGIN)
        assert outcome.ended is Ended.CANCELLED


@pytest.mark.anyio
async def test_x9_deadline_while_the_handler_is_stuck(tmp_path: Path) -> None:
    command = measured.fake(tmp_path, "huge_output", size=20)
    async with started(command, limits=Limits(idle=30, total=0.5, grace=0.5)) as (task, _):
        outcome = await asyncio.wait_for(task, 3 * MARGIN)
        assert outcome.ended is Ended.DEADLINE


@pytest.mark.anyio
async def test_x9_cancel_after_the_exit_while_the_handler_is_stuck(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    command = measured.command(tmp_path, "echo", "hello")
    async with started(command, cancel=cancel) as (task, _):
        await asyncio.sleep(SHORT.drain + 0.2)
        assert not task.done()
        cancel.set()
        outcome = await asyncio.wait_for(task, 2 * MARGIN)
        assert outcome.ended is Ended.CANCELLED


@pytest.mark.anyio
async def test_x11_a_stuck_handler_stops_the_child(tmp_path: Path) -> None:
    command = measured.fake(tmp_path, "huge_output", size=20)
    async with started(command) as (task, _):
        await asyncio.sleep(0.5)
        assert command.spool.stat().st_size <= 128 * 1024
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.anyio
async def test_x4_stderr_is_drained_while_the_handler_is_stuck(tmp_path: Path) -> None:
    script = "echo first; head -c 5000000 /dev/zero >&2; touch drained; sleep 60"
    command = measured.command(tmp_path, "sh", "-c", script)
    async with started(command) as (task, _):
        for _ in range(500):
            if (tmp_path / "drained").exists():
                break
            await asyncio.sleep(0.02)
        assert (tmp_path / "drained").exists()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.anyio
async def test_the_idle_clock_stands_still_for_a_slow_handler(tmp_path: Path) -> None:
    async def slow(_line: Line) -> None:
        await asyncio.sleep(0.6)

    command = measured.command(tmp_path, "sh", "-c", "echo a; sleep 0.1; echo b")
    limits = Limits(idle=0.5, total=30)
    run = await measured.measure(command, limits=limits, on_line=slow)
    assert run.outcome.ended is Ended.EXITED
    assert [line.text for line in run.lines] == ["a", "b"]


@pytest.mark.anyio
async def test_x8_a_slow_handler_loses_nothing_to_the_drain(tmp_path: Path) -> None:
    async def slow(_line: Line) -> None:
        await asyncio.sleep(0.02)

    command = measured.command(tmp_path, "seq", "40")
    run = await measured.measure(command, limits=SHORT, on_line=slow)
    assert [line.text for line in run.lines] == [str(n) for n in range(1, 41)]


@pytest.mark.anyio
async def test_x8_a_grandchild_that_keeps_writing_does_not_hold_the_run(tmp_path: Path) -> None:
    command = measured.command(tmp_path, "sh", "-c", "yes & echo done")
    run = await measured.measure(command, limits=SHORT)
    assert run.outcome.ended is Ended.EXITED
    assert run.alive == []
    assert run.seconds <= 2 * MARGIN


@pytest.mark.anyio
async def test_a_cancelled_task_ends_the_tree_first(tmp_path: Path) -> None:
    async with started(measured.fake(tmp_path, "setsid_grandchild")) as (task, _):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.anyio
async def test_a_task_cancelled_twice_kills_at_once(tmp_path: Path) -> None:
    limits = Limits(idle=60, total=60, grace=30)
    async with started(measured.fake(tmp_path, "ignores_term"), limits=limits) as (task, _):
        task.cancel()
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 3 * MARGIN)


@pytest.mark.anyio
async def test_an_error_of_the_handler_ends_the_tree_and_is_raised(tmp_path: Path) -> None:
    async def failing(_line: Line) -> None:
        raise LookupError("the store is gone")

    command = measured.command(tmp_path, "sh", "-c", "echo a; sleep 60")
    with pytest.raises(LookupError, match="the store is gone"):
        await measured.measure(command, limits=SHORT, on_line=failing)
    assert measured.marked(command.run_id) == []


@pytest.mark.anyio
async def test_x3_the_engine_is_asked_with_its_own_signal_and_may_answer(tmp_path: Path) -> None:
    cancel = asyncio.Event()

    async def on_line(_line: Line) -> None:
        cancel.set()

    script = "trap 'echo interrupted; exit 0' INT; echo up; while :; do sleep 0.05; done"
    command = measured.command(tmp_path, "bash", "-c", script, first_signal=signal.SIGINT)
    limits = Limits(idle=30, total=30, grace=10)
    run = await measured.measure(command, limits=limits, cancel=cancel, on_line=on_line)
    assert run.outcome.ended is Ended.CANCELLED
    assert run.outcome.exit_code == 0
    assert run.lines[-1].text == "interrupted"
    assert run.seconds <= 2 * MARGIN


@pytest.mark.anyio
async def test_cancelled_before_the_start_starts_nothing(tmp_path: Path) -> None:
    cancel = asyncio.Event()
    cancel.set()
    command = measured.command(tmp_path, "touch", "started")
    run = await measured.measure(command, cancel=cancel)
    assert run.outcome.ended is Ended.CANCELLED
    assert not (tmp_path / "started").exists()
