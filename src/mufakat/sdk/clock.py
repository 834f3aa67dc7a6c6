"""Time for deadlines: counts while the machine sleeps, and no wall clock moves it."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Seconds since some start."""

_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def elapsed() -> float:
    """Seconds since boot, sleep included where the system can tell it."""
    return time.clock_gettime(_BOOTTIME)
