"""Programs on PATH that answer in JSON: with limits of time and size, and an end for all of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

END_SECONDS = 2.0
LONGEST = 2 * 1024 * 1024
"""Bytes of an answer; a longer one is none."""


class ProgramFailed(Exception):
    """The program could not answer; the words say why."""


async def ask(
    words: Sequence[str], *, folder: Path, environ: Mapping[str, str], seconds: float
) -> dict[str, Any]:
    """The record that a program prints; raises ProgramFailed."""
    name = Path(words[0]).name
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=dict(environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as problem:
        raise ProgramFailed(f"{name} cannot be started: {problem.strerror}") from problem
    try:
        return _record(name, await asyncio.wait_for(_read(name, process), seconds))
    except TimeoutError as problem:
        raise ProgramFailed(f"{name} took longer than {seconds:g} seconds") from problem
    finally:
        await _end(process)


async def _read(name: str, process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    out = b""
    while piece := await process.stdout.read(65_536):
        out += piece
        if len(out) > LONGEST:
            raise ProgramFailed(f"{name} answered more than is read")
    return out


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it and whatever it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(_drained(process), END_SECONDS)


async def _drained(process: asyncio.subprocess.Process) -> None:
    """Read what is left: its end is not noticed while its output is full."""
    assert process.stdout is not None
    while await process.stdout.read(65_536):
        pass
    await process.wait()


def _record(name: str, out: bytes) -> dict[str, Any]:
    try:
        found = json.loads(out)
    except (ValueError, RecursionError) as problem:
        raise ProgramFailed(f"{name} did not answer in JSON") from problem
    if not isinstance(found, dict):
        raise ProgramFailed(f"{name} answered something else than a record")
    return found
