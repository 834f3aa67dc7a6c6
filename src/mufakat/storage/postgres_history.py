"""How far this server has seen the log: a database that is behind that is another history."""

from __future__ import annotations

import threading

from mufakat.core import base
from mufakat.storage.scope import Head


class History:
    """The newest head that this server has seen, from whichever connection."""

    __slots__ = ("_head", "_lock")

    def __init__(self, head: Head) -> None:
        self._head = head
        self._lock = threading.Lock()

    @property
    def head(self) -> Head:
        """Read it before a snapshot begins: what is seen later may well be ahead of that."""
        with self._lock:
            return self._head

    def saw(self, head: Head) -> None:
        """Remember a head that stands in the database."""
        with self._lock:
            if (head.generation, head.revision) > (self._head.generation, self._head.revision):
                self._head = head


def refuse_older(known: Head, found: Head) -> None:
    """Raise StoreRolledBack where `found` is behind, or not on the same history as, `known`."""
    if found.generation > known.generation:
        return
    other = found.generation < known.generation or found.epoch != known.epoch
    if other or found.revision < known.revision:
        raise base.StoreRolledBack(
            f"The database stands at generation {found.generation}, revision {found.revision}, "
            f"but this server has already seen generation {known.generation}, "
            f"revision {known.revision}: an old or foreign copy answers at its address.",
            fix="bring the newer database back, or restart with --accept-rollback",
            generation=found.generation,
            revision=found.revision,
        )
