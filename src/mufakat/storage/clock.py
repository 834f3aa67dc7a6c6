"""The store's clock: a persisted high-water mark that only elapsed time moves on."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Protocol

from mufakat.core.base import Millis


class Readings(Protocol):
    """What the machine's clocks say, in milliseconds."""

    def wall(self) -> int: ...
    def elapsed(self) -> int: ...


@dataclass(frozen=True, slots=True)
class SystemReadings:
    """The real clocks; elapsed time counts suspension too where the system can tell it."""

    def wall(self) -> Millis:
        return Millis(time.time_ns() // 1_000_000)

    def elapsed(self) -> int:
        boottime = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        return time.clock_gettime_ns(boottime) // 1_000_000


class HighWater:
    """Time that starts at the later of mark and wall clock, and never goes back."""

    __slots__ = ("_base", "_lock", "_readings", "_start", "gap")

    def __init__(self, mark: int, readings: Readings, *, alone: bool = True) -> None:
        """`mark` is what the store last persisted, 0 for a new one.

        `alone` is False where another server lives on the same store: its time goes on from the
        mark, and our wall clock has no say.
        """
        wall = readings.wall()
        self._readings = readings
        self._lock = threading.Lock()
        self._base = max(mark, wall) if alone or not mark else mark
        self._start = readings.elapsed()
        self.gap = wall - mark if mark else 0
        """Milliseconds that the wall clock was ahead of the mark at start; negative if behind."""

    def now(self) -> Millis:
        """Milliseconds since 1970; the wall clock was read once, at start."""
        return Millis(self._base + max(0, self._readings.elapsed() - self._start))

    def reach(self, mark: int) -> None:
        """Go on from `mark`, which another server has persisted, where it is ahead."""
        with self._lock:
            self._base += max(0, mark - self.now())

    def drift(self) -> int:
        """How far the wall clock is ahead of this one, in milliseconds."""
        return self._readings.wall() - self.now()
