"""Programs on PATH that answer a question: limits of time and size, and an end for all of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

END_SECONDS = 2.0
LONGEST = 2 * 1024 * 1024
"""Bytes of an answer; a longer one is none."""


class ProgramFailed(Exception):
    """The program could not answer; the words say why."""


async def ask(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    seconds: float,
    folder: Path | None = None,
) -> dict[str, Any]:
    """The record that a program prints as JSON; raises ProgramFailed."""
    out = await output(words, environ=environ, seconds=seconds, folder=folder)
    return _record(Path(words[0]).name, out)


async def output(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    seconds: float,
    folder: Path | None = None,
    codes: Collection[int] = (),
) -> bytes:
    """What a program prints, run in `folder`; raises ProgramFailed.

    It has no input and only the variables that it is given. With `codes` another exit code than
    these is a failure.
    """
    name = Path(words[0]).name
    try:
        process = await started(
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
        out = await asyncio.wait_for(_read(name, process), seconds)
        if codes and await asyncio.wait_for(process.wait(), seconds) not in codes:
            raise ProgramFailed(f"{name} failed")
        return out
    except TimeoutError as problem:
        raise ProgramFailed(f"{name} took longer than {seconds:g} seconds") from problem
    finally:
        await end(process)


async def started(*words: str, **options: Any) -> asyncio.subprocess.Process:
    """Start a program as asyncio does; a cancellation in the meantime ends it, and itself ends."""
    # Cancelled before its pipes are there, asyncio would wait for them for ever.
    starting = asyncio.ensure_future(asyncio.create_subprocess_exec(*words, **options))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):
            await end(await starting)
        raise


async def _read(name: str, process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    out = bytearray()
    while piece := await process.stdout.read(65_536):
        out += piece
        if len(out) > LONGEST:
            raise ProgramFailed(f"{name} answered more than is read")
    return bytes(out)


async def end(process: asyncio.subprocess.Process) -> None:
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
