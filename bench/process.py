"""A contender's process: started, asked within a deadline, ended by its own id."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LINE_BYTES = 2**26
PREPARE_SECONDS = 240.0
RUN_SECONDS = 60.0


def environment() -> dict[str, str]:
    """Ours, with one hash seed: LlamaIndex makes its indexes in the order of a set.

    SQLite takes the one that was made last: with this seed the right one, with others one that is
    four times slower at 100,000 messages.
    """
    return {**os.environ, "PYTHONHASHSEED": "0"}


@dataclass(slots=True)
class Contestant:
    """One contender of one size, and what was measured of it."""

    name: str
    argv: Sequence[str]
    version: str = ""
    seconds: float = 0.0
    """What preparing took."""
    wall: list[float] = field(default_factory=list)
    """Milliseconds."""
    cpu: list[float] = field(default_factory=list)
    text: str = ""
    problem: str = ""
    """Why it is out."""
    _process: Process | None = None

    async def start(self) -> None:
        """Start it and wait until it has prepared; too slow a one is out."""
        self._process = await asyncio.create_subprocess_exec(
            *self.argv, stdin=PIPE, stdout=PIPE, cwd=ROOT, limit=LINE_BYTES, env=environment()
        )
        ready = await self._answer(PREPARE_SECONDS, "preparing")
        self.version = ready.get("version", "")
        self.seconds = ready.get("seconds", 0.0)
        # The first run imports and compiles what the others find ready.
        await self.ask("run")

    async def measure(self) -> None:
        """Run once more and keep what it took."""
        answer = await self.ask("run")
        if answer:
            self.wall.append(answer["ms"])
            self.cpu.append(answer["cpu_ms"])

    async def show(self) -> None:
        """Keep the text that it makes."""
        self.text = (await self.ask("show")).get("text", "")

    async def ask(self, command: str) -> dict[str, Any]:
        """One command's answer; empty when the contender is out."""
        if self._process is None or self.problem:
            return {}
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command}\n".encode())
        return await self._answer(RUN_SECONDS, "one run")

    async def end(self) -> None:
        """End its process, if it lives."""
        if self._process is not None:
            if self._process.returncode is None:
                self._process.kill()
            await self._process.wait()
            self._process = None

    async def _answer(self, seconds: float, doing: str) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        except TimeoutError:
            return await self._out(f"{doing} took over {seconds:.0f} s")
        if not line:
            return await self._out(f"{doing} failed")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _out(self, problem: str) -> dict[str, Any]:
        self.problem = problem
        await self.end()
        return {}

    @property
    def p50(self) -> float | None:
        """Median wall time, milliseconds."""
        return median(self.wall) if self.wall else None
