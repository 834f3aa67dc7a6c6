"""Snapshots of PostgreSQL: one state, no writes, and time that is not behind what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mufakat.ports.store import Transaction as PortTransaction
from mufakat.storage import errors, postgres_history
from mufakat.storage.clock import HighWater
from mufakat.storage.postgres_connections import Connections
from mufakat.storage.postgres_history import History
from mufakat.storage.scope import Scope
from mufakat.storage.transaction import Transaction

T = TypeVar("T")


class Readers:
    """Runs queries, each in a read-only REPEATABLE READ transaction; used by many threads."""

    def __init__(self, connections: Connections, *, clock: HighWater, history: History) -> None:
        self._connections = connections
        self._clock = clock
        self._history = history

    def snapshot(self, query: Callable[[PortTransaction], T]) -> T:
        """Run `query` on one state of the database."""
        known = self._history.head
        with (
            errors.translated(),
            self._connections.transaction(lock=False) as (connection, head),
        ):
            postgres_history.refuse_older(known, head)
            # Another server's clock may be ahead of ours; its records must not be in our future.
            self._clock.reach(head.hwm)
            scope = Scope(connection, self._clock.now(), head=None)
            try:
                return query(Transaction(scope))
            finally:
                scope.close()
