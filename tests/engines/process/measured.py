"""Run a command under supervision and measure what the run did to this process."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from engines.process import fake_engine
from mufakat.engines.process import procfs, supervise, support
from mufakat.engines.process.command import Command, Limits, Line, Outcome

KEPT = 1000
GENEROUS = Limits(idle=30, total=60, grace=1)


@dataclass
class Measured:
    """`growth` in bytes of resident memory at the worst moment, `lag` in seconds at p99."""

    outcome: Outcome
    lines: list[Line]
    count: int
    growth: int
    lag: float
    seconds: float
    alive: list[int]


@dataclass
class Probe:
    """Samples memory and the delay of the event loop until it is cancelled."""

    before: int = 0
    peak: int = 0
    lags: list[float] = field(default_factory=list)

    async def sample(self) -> None:
        loop = asyncio.get_running_loop()
        self.before = self.peak = resident()
        while True:
            due = loop.time() + 0.01
            await asyncio.sleep(0.01)
            self.lags.append(loop.time() - due)
            self.peak = max(self.peak, resident())

    @property
    def p99(self) -> float:
        lags = sorted(self.lags)
        return lags[int(len(lags) * 0.99)] if lags else 0.0


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def marked(run_id: str) -> list[int]:
    """Return the live processes of a run by its mark; not by the code under test's own list."""
    return [
        pid
        for pid, process in procfs.table().items()
        if process.alive and procfs.mark(pid, procfs.RUN_MARK) == run_id
    ]


def command(folder: Path, *argv: str, stdin: bytes | None = None, **more: object) -> Command:
    """Return a command of a fresh run with the poorest environment."""
    run_id = uuid.uuid4().hex
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    given = {"argv": argv, "cwd": folder, "env": env, "run_id": run_id, "home_id": "test-home"}
    return Command(**(given | {"spool": folder / f"{run_id}.spool", "stdin": stdin} | more))  # type: ignore[arg-type]


def fake(folder: Path, behaviour: str, *, size: int = 0, **more: object) -> Command:
    """Return a command of the fake engine."""
    script = str(Path(fake_engine.__file__).resolve())
    argv = (sys.executable, "-I", "-S", script, behaviour, "--size", str(size))
    return command(folder, *argv, **more)  # type: ignore[arg-type]


async def measure(
    command: Command,
    *,
    limits: Limits = GENEROUS,
    cancel: asyncio.Event | None = None,
    on_line: Callable[[Line], Awaitable[None]] | None = None,
    means: support.Support | None = None,
) -> Measured:
    """Run `command`; keep its last lines."""
    lines: list[Line] = []
    count = 0
    loop = asyncio.get_running_loop()

    async def keep(line: Line) -> None:
        nonlocal count
        count += 1
        if on_line is not None:
            await on_line(line)
        lines.append(line)
        del lines[:-KEPT]

    probe = Probe()
    sampling = asyncio.create_task(probe.sample())
    await asyncio.sleep(0.03)
    started = loop.time()
    try:
        outcome = await supervise.run(
            command, limits=limits, cancel=cancel or asyncio.Event(), on_line=keep, means=means
        )
    finally:
        sampling.cancel()
        with suppress(asyncio.CancelledError):
            await sampling
    seconds = loop.time() - started
    growth = probe.peak - probe.before
    return Measured(outcome, lines, count, growth, probe.p99, seconds, marked(command.run_id))
