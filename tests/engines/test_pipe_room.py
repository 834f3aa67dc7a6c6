"""A CLI that does not wait for its own output must still be heard to its end."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

from mufakat.engines.process import spawn, supervise
from mufakat.engines.process.command import Command, Limits, Line

pytestmark = pytest.mark.anyio

# What Node programs do that write to a pipe and then call process.exit().
HASTY = """
import os
os.set_blocking(1, False)
data = memoryview(b"x" * 900_000 + b"\\nTHE END\\n")
try:
    while data:
        data = data[os.write(1, data):]
except BlockingIOError:
    pass
os._exit(0)
"""


async def heard(place: Path) -> list[str]:
    lines: list[str] = []

    async def on_line(line: Line) -> None:
        lines.append(line.text)

    await supervise.run(
        Command(
            argv=(sys.executable, "-c", HASTY),
            cwd=place,
            env={},
            run_id=f"hasty-{place.name}",
            home_id="hasty",
            spool=place / "raw",
        ),
        limits=Limits(idle=20, total=20),
        cancel=asyncio.Event(),
        on_line=on_line,
    )
    return lines


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a pipe grow")
async def test_output_up_to_a_megabyte_survives_a_hasty_exit(tmp_path: Path) -> None:
    assert (await heard(tmp_path))[-1] == "THE END"


async def test_twin_in_a_narrow_pipe_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "_widen", lambda pipe: None)
    monkeypatch.setattr(spawn.subprocess, "Popen", Slow)
    assert "THE END" not in await heard(tmp_path)


class Slow(spawn.subprocess.Popen):  # type: ignore[type-arg, name-defined, misc]
    """Gives the child time to fill the pipe before anybody reads."""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)
        time.sleep(0.5)
