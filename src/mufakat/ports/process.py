"""The process port: whether a process of this machine still runs, known without asking again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Processes(Protocol):
    """Processes of this machine, each named by pid and start time: a pid alone may be reused."""

    def boot(self) -> str:
        """Id of this machine's present life; empty where it has none."""
        ...

    def start_of(self, pid: int) -> int:
        """When a running process started, in clock ticks since boot; 0 where there is none."""
        ...

    def watch(self, pid: int, start: int, *, ended: Callable[[], None]) -> Callable[[], None]:
        """Call `ended` in the event loop once the process is gone, at once where it is already.

        Answers how to give up watching; that may be called at any time and more than once.
        """
        ...
