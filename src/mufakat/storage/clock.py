"""The store's clock: a persisted high-water mark that only elapsed time moves on."""

from __future__ import annotations

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

    __slots__ = ("_base", "_readings", "_start", "gap")

    def __init__(self, mark: int, readings: Readings) -> None:
        """`mark` is what the store last persisted, 0 for a new one."""
        wall = readings.wall()
        self._readings = readings
        self._base = max(mark, wall)
        self._start = readings.elapsed()
        self.gap = wall - mark if mark else 0
        """Milliseconds that the wall clock was ahead of the mark at start; negative if behind."""

    def now(self) -> Millis:
        """Milliseconds since 1970; the wall clock was read once, at start."""
        return Millis(self._base + max(0, self._readings.elapsed() - self._start))

    def drift(self) -> int:
        """How far the wall clock is ahead of this one, in milliseconds."""
        return self._readings.wall() - self.now()
