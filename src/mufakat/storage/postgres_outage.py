"""A database that cannot be reached: callers hear so at once, and tries are spaced out."""

from __future__ import annotations

import random
import threading
import time

from mufakat.core import base

FIRST_SECONDS = 0.05
LAST_SECONDS = 2.0


class Outage:
    """Between two tries everybody is refused; each failure doubles the pause, up to 2 s."""

    __slots__ = ("_failures", "_lock", "_until", "_why")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0
        self._why = ""

    @property
    def lasts(self) -> bool:
        """Whether the last try failed."""
        with self._lock:
            return self._failures > 0

    def refuse(self) -> None:
        """Raise Unavailable where the last try failed only just now."""
        with self._lock:
            if time.monotonic() < self._until:
                raise base.Unavailable(self._why, fix="try again; Mufakat reconnects by itself")

    def failed(self, error: base.MufakatError) -> float:
        """Remember a failed try; answers the seconds until the next one."""
        with self._lock:
            longest = min(LAST_SECONDS, FIRST_SECONDS * 2.0 ** min(self._failures, 10))
            # Servers that lost the same database must not come back all at once.
            pause = longest * random.uniform(0.5, 1.0)
            self._failures += 1
            self._until = time.monotonic() + pause
            self._why = str(error)
            return pause

    def over(self) -> None:
        """The database answers."""
        with self._lock:
            self._failures, self._until = 0, 0.0
