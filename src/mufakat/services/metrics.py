"""Figures for the outside: counted from the event log, and read from the store when asked."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from mufakat.core.base import LoggedEvent, Revision
from mufakat.core.coordination import measure, series
from mufakat.core.coordination.inbox import Status
from mufakat.core.coordination.measure import Sample, Starts
from mufakat.core.coordination.series import Type
from mufakat.core.coordination.state import State
from mufakat.ports.store import Store, Transaction

PAGE = 2_000
"""Events that are read at a time."""
EVERYBODY = 10_000

Key = tuple[str, tuple[str, ...]]
"""A series with the values of its labels."""


@dataclass(slots=True)
class Spread:
    """A histogram: how many fell below each bound and not below the one before, and their sum."""

    counts: list[int]
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything there is to tell at one moment."""

    counters: Mapping[Key, float]
    spreads: Mapping[Key, Spread]
    gauges: Mapping[Key, float]


@dataclass(slots=True)
class _Tally:
    counters: Counter[Key] = field(default_factory=Counter)
    spreads: dict[Key, Spread] = field(default_factory=dict)

    def add(self, sample: Sample) -> None:
        key, kind = (sample.name, sample.labels), series.SERIES[sample.name]
        if kind.type is Type.COUNTER:
            self.counters[key] += sample.value  # type: ignore[assignment]
            return
        spread = self.spreads.get(key)
        if spread is None:
            spread = self.spreads[key] = Spread([0] * (len(kind.buckets) + 1))
        spread.counts[bisect_left(kind.buckets, sample.value)] += 1
        spread.total += sample.value


class Metrics:
    """Counts since the server's start, from the log alone wherever the log tells it.

    The log is read when somebody asks for the figures, and not before: whoever does not watch
    pays nothing.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cursor: Revision | None = None
        self._starts = Starts()
        self._tally = _Tally()
        self._reading = asyncio.Lock()

    async def begin(self) -> None:
        """Count from here on."""
        self._cursor = await self._store.read(lambda tx: tx.events.head())

    def note(self, name: str, value: float, *labels: str) -> None:
        """Count something that the log does not tell."""
        self._tally.add(Sample(name, value, labels))

    def told(self, chars: int) -> None:
        """Count what an agent was told by a digest."""
        if chars:
            self.note("iacp_injected_chars_total", chars, "digest")

    async def read(self) -> Figures:
        """The figures of now."""
        async with self._reading:
            gauges = await self._catch_up()
            return Figures(dict(self._tally.counters), dict(self._tally.spreads), gauges)

    async def _catch_up(self) -> Mapping[Key, float]:
        """Read the log up to its end; answers the gauges of the same moment."""
        while True:
            after = self._cursor or Revision(0)
            head, page, gauges = await self._store.read(partial(_page, after=after))
            for event in page:
                for sample in measure.of(event, self._starts):
                    self._tally.add(sample)
            if gauges is not None:
                self._cursor = head
                return gauges
            self._cursor = page[-1].revision


def _page(
    tx: Transaction, *, after: Revision
) -> tuple[Revision, Sequence[LoggedEvent], Mapping[Key, float] | None]:
    """What came after a revision; with it the gauges, where it is the last of it."""
    found = tx.events.after(after, limit=PAGE, kinds=measure.KINDS)
    return tx.events.head(), found, None if len(found) == PAGE else _gauges(tx)


def _gauges(tx: Transaction) -> Mapping[Key, float]:
    there = Counter(one.standing.state for one in tx.instances.list(online=True, limit=EVERYBODY))
    states = [state for state in State if state is not State.OFFLINE]
    return {
        ("iacp_lease_queue_depth", ()): len(tx.leases.waiters()),
        ("iacp_inbox_unread", ()): tx.inbox.unread(),
        ("iacp_dead_letters", ()): len(tx.inbox.with_status(Status.DEAD, limit=EVERYBODY)),
        **{("iacp_agents", (state.value,)): there[state] for state in states},
    }
