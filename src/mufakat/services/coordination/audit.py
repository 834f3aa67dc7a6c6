"""What the log keeps of calls that were refused at a door, before any service saw them."""

from __future__ import annotations

from collections.abc import Callable

from mufakat.core.base import Event
from mufakat.core.coordination.principal import Principal
from mufakat.ports.store import Store

QUIET = 60.0
"""Seconds in which the same refusal is not told again: whoever is refused may ask in a loop."""


class Audit:
    """Tells the log who asked for what they have no right to."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        """`clock` in seconds; it only spaces what is told."""
        self._store = store
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}

    async def refused(self, by: Principal, act: str) -> None:
        """Remember that a caller was refused an act."""
        now = self._clock()
        self._told = {key: at for key, at in self._told.items() if now - at < QUIET}
        if (by.identity, act) in self._told:
            return
        self._told[by.identity, act] = now
        event = Event("access.refused", by.identity, {"as": "", "act": act})
        await self._store.write(lambda tx: tx.events.record(event))
