"""Wall time and processor of processes: our own children, and a server that goes on running."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mufakat.retrieval.library import LocalLibrary

GATHER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds."""

    wall: float
    cpu: float


class Meter:
    """Reads another process' clock; Linux alone lets one do so."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        # The id of a process' own clock, as clock_getcpuclockid(3) makes it.
        self._clock = (~pid << 3) | 2
        self._ticks = os.sysconf("SC_CLK_TCK")

    def start(self) -> None:
        """Begin to measure."""
        self._began = (time.perf_counter(), self._cpu(), self._children())

    def stop(self) -> tuple[Cost, float]:
        """What the process took since then, and its children that have ended."""
        wall, cpu, children = self._began
        cost = Cost(1000 * (time.perf_counter() - wall), 1000 * (self._cpu() - cpu))
        return cost, 1000 * (self._children() - children)

    def _cpu(self) -> float:
        return time.clock_gettime(self._clock)

    def _children(self) -> float:
        text = Path(f"/proc/{self._pid}/stat").read_text("ascii")
        fields = text.rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / self._ticks


def finish(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str = "") -> Cost:
    """Run a command to its end; its processor includes what it has waited for."""
    before = time.perf_counter()
    spent = _spent()
    subprocess.run(
        argv, cwd=cwd, env=dict(env), input=stdin.encode(), capture_output=True, check=True
    )
    return Cost(1000 * (time.perf_counter() - before), 1000 * (_spent() - spent))


def gather(project: Path, home: Path) -> Cost:
    """What a turn asks git: before its pack is made, and where its session stands after it."""

    async def both() -> None:
        library = LocalLibrary(home)
        await library.gather(project, since_head="", seconds=GATHER_SECONDS)
        await library.place(project)

    before, spent = time.perf_counter(), _spent()
    asyncio.run(both())
    return Cost(1000 * (time.perf_counter() - before), 1000 * (_spent() - spent))


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
