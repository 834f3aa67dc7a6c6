"""The event log as others read it: pages above a cursor, and waiting for more."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.base import LoggedEvent, Revision
from mufakat.ports.store import Store


class Feed:
    """Reads the log; waiting only wakes, data always come from the log above the cursor."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def head(self) -> tuple[str, Revision]:
        """Epoch and newest revision."""
        return await self._store.read(lambda tx: (tx.events.epoch(), tx.events.head()))

    async def oldest(self) -> Revision:
        """The first revision still kept."""
        return await self._store.read(lambda tx: tx.events.oldest())

    async def after(
        self, revision: int, *, limit: int, subject: str = "", kinds: Sequence[str] = ()
    ) -> Sequence[LoggedEvent]:
        """Events above `revision`, oldest first."""
        return await self._store.read(
            lambda tx: tx.events.after(
                Revision(revision), limit=limit, subject=subject, kinds=kinds
            )
        )

    async def wait(self, revision: int, *, seconds: float) -> Revision:
        """Wait until there is more than `revision` or the time is over; answer the head."""
        return await self._store.wait(Revision(revision), seconds=seconds)
