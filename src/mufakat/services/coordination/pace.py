"""How fast one session may ask for leases: decided before the store is troubled."""

from __future__ import annotations

from collections.abc import Callable

from mufakat.core.base import Millis, TooMany
from mufakat.core.coordination import flood
from mufakat.core.coordination.flood import Rate
from mufakat.core.coordination.principal import Principal

SESSIONS = 4_096
"""Buckets that are kept; those that are full again are forgotten first."""


class Pace:
    """A bucket for each session, in memory alone."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` in seconds."""
        self._clock = clock
        self._buckets: dict[str, flood.Bucket] = {}

    def take(self, by: Principal, rate: Rate) -> None:
        """Count a request of a session; raises TooMany. The operator is not counted."""
        if by.operator:
            return
        now = Millis(round(self._clock() * 1000))
        session = f"{by.identity}/{by.epoch}"
        left = flood.take(self._buckets.get(session), rate, now)
        if isinstance(left, float):
            raise TooMany(
                f"More than {rate.per_second:g} requests a second for leases.",
                fix="Ask for everything at once, and wait in the queue with `wait`.",
                retry_after=left,
            )
        self._buckets[session] = left
        if len(self._buckets) > SESSIONS:
            full = now - rate.burst / rate.per_second * 1000
            self._buckets = {name: one for name, one in self._buckets.items() if one.at > full}
