"""Find and end processes by their mark: what a killed server has left behind."""

import asyncio
import os
import signal
from collections.abc import Collection
from dataclasses import dataclass

from mufakat.engines.process import procfs

SETTLE = 0.5
KILL_WITHIN = 2.0
_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Marked:
    """A live process of a run."""

    process: procfs.Process
    run_id: str


@dataclass(frozen=True, slots=True)
class Swept:
    """Pids that were found, and those of them that could not be ended (should be none)."""

    found: tuple[int, ...]
    left: tuple[int, ...]


def find(home_id: str) -> list[Marked]:
    """Return the live processes of all runs of this home; empty where there is no /proc.

    This process and those above it are left out: a server may itself be started by an agent.
    """
    if not procfs.PROC.joinpath("self", "environ").exists():
        return []
    processes = procfs.table()
    ours = procfs.above(os.getpid(), processes)
    return [
        Marked(process, run_id)
        for process in processes.values()
        if process.alive
        and process.pid not in ours
        and procfs.mark(process.pid, procfs.HOME_MARK) == home_id
        and (run_id := procfs.mark(process.pid, procfs.RUN_MARK)) is not None
    ]


async def end_orphans(home_mark: str, live_run_ids: Collection[str]) -> Swept:
    """End every process of this home whose run is not in `live_run_ids`, within three seconds.

    Only for a server that holds its home's lock: it takes all other runs for dead.
    """
    loop = asyncio.get_running_loop()
    orphans = _orphans(home_mark, live_run_ids)
    found = dict.fromkeys(process.pid for process in orphans)
    for process in orphans:
        procfs.kill(process, signal.SIGTERM)
    settled = loop.time() + SETTLE
    until = settled + KILL_WITHIN
    while (orphans := _orphans(home_mark, live_run_ids)) and loop.time() < until:
        found |= dict.fromkeys(process.pid for process in orphans)
        if loop.time() >= settled:
            for process in orphans:
                procfs.kill(process, signal.SIGKILL)
        await asyncio.sleep(_STEP)
    return Swept(tuple(found), tuple(process.pid for process in orphans))


def _orphans(home_mark: str, live: Collection[str]) -> list[procfs.Process]:
    return [marked.process for marked in find(home_mark) if marked.run_id not in live]
