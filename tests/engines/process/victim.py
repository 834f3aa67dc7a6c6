"""A server to be killed: runs some trees under supervision and waits for ever.

Arguments: folder, number of trees, home mark, `yes` or `no` for dying with the parent.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
from pathlib import Path

from mufakat.engines.process import supervise, support
from mufakat.engines.process.command import Command, Limits, Line

FAKE = str(Path(__file__).with_name("fake_engine.py"))


async def serve(folder: Path, trees: int, home: str, *, dying: bool) -> None:
    support.become_subreaper()
    means = dataclasses.replace(support.platform_support(), pdeathsig=dying)
    up = 0

    async def on_line(line: Line) -> None:
        nonlocal up
        up += "result" in line.text
        if up == 2 * trees:
            (folder / "up").touch()

    async def one(number: int) -> None:
        command = Command(
            argv=(sys.executable, "-I", "-S", FAKE, "whole_tree"),
            cwd=folder,
            env={"PATH": os.environ["PATH"]},
            run_id=f"run-{number}",
            home_id=home,
            spool=folder / f"raw-{number}",
        )
        limits = Limits(idle=60, total=60)
        await supervise.run(
            command, limits=limits, cancel=asyncio.Event(), on_line=on_line, means=means
        )

    await asyncio.gather(*(one(number) for number in range(trees)))


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], dying=sys.argv[4] == "yes"))
