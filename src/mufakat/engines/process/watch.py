"""Watch processes that are not our own: the kernel tells when one ends, nobody polls for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mufakat.engines.process import procfs

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
LOOK_SECONDS = 5.0
"""How often a process is looked at where the kernel does not tell."""


class LocalProcesses:
    """The port's processes, by pidfd; `pidfd` False looks now and then, as other systems must."""

    def __init__(self, *, pidfd: bool = hasattr(os, "pidfd_open")) -> None:
        self._pidfd = pidfd

    def boot(self) -> str:
        """The kernel's boot id."""
        try:
            return BOOT_ID.read_text("ascii").strip()
        except OSError:
            return ""

    def start_of(self, pid: int) -> int:
        """Start time of a running process; a zombie runs no longer."""
        found = procfs.read(pid) if pid > 0 else None
        return found.start if found is not None and found.alive else 0

    def watch(self, pid: int, start: int, *, ended: Callable[[], None]) -> Callable[[], None]:
        """Call `ended` once when the process is gone."""
        loop = asyncio.get_running_loop()
        handle = self._handle(pid)
        if self.start_of(pid) != start:
            _close(handle)
            loop.call_soon(ended)
            return lambda: None
        if handle is None:
            return self._look(pid, start, ended=ended)

        def stop() -> None:
            # A second call finds it removed, and its number perhaps given to another file.
            if loop.remove_reader(handle):
                _close(handle)

        def told() -> None:
            stop()
            ended()

        loop.add_reader(handle, told)
        return stop

    def _look(self, pid: int, start: int, *, ended: Callable[[], None]) -> Callable[[], None]:
        async def looking() -> None:
            while True:
                if self.start_of(pid) != start:
                    return ended()
                await asyncio.sleep(LOOK_SECONDS)

        task = asyncio.get_running_loop().create_task(looking(), name=f"watch {pid}")

        def stop() -> None:
            task.cancel()

        return stop

    def _handle(self, pid: int) -> int | None:
        if self._pidfd:
            with suppress(OSError):
                return os.pidfd_open(pid)
        return None


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)
