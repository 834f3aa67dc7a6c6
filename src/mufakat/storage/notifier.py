"""Wakes those who wait for the log to grow; what is new they read from the log itself."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    after: int
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event


class Notifier:
    """The log's head in memory, moved by the writer's thread after each commit."""

    __slots__ = ("_closed", "_head", "_lock", "_waiters")

    def __init__(self, head: int) -> None:
        self._head = head
        self._closed = False
        self._lock = threading.Lock()
        self._waiters: set[_Waiter] = set()

    def advance(self, head: int) -> None:
        """Wake everybody who waits for less than `head`."""
        with self._lock:
            self._head = max(self._head, head)
            due = {waiter for waiter in self._waiters if self._head > waiter.after}
            self._waiters -= due
        _wake(due)

    def close(self) -> None:
        """Let everybody go."""
        with self._lock:
            self._closed = True
            due, self._waiters = self._waiters, set()
        _wake(due)

    async def wait(self, after: int, *, seconds: float) -> int:
        """Wait until the head is beyond `after` or the time is over; answer the head."""
        waiter = _Waiter(after, asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            if self._head > after or self._closed or seconds <= 0:
                return self._head
            self._waiters.add(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter.woken.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                self._waiters.discard(waiter)
        return self._head


def _wake(waiters: set[_Waiter]) -> None:
    for waiter in waiters:
        # A loop that closes meanwhile has nobody left to wake; the writer must go on.
        with suppress(RuntimeError):
            waiter.loop.call_soon_threadsafe(waiter.woken.set)
