"""Snapshots of an SQLite file: a few connections that stay open, each used by one query a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine

from mufakat.ports.store import Transaction as PortTransaction
from mufakat.storage import connect, errors
from mufakat.storage.clock import HighWater
from mufakat.storage.scope import Scope
from mufakat.storage.transaction import Transaction

T = TypeVar("T")


class Snapshots:
    """Runs queries, each on one state of the file; used by many threads."""

    def __init__(self, engine: Engine, *, clock: HighWater) -> None:
        self._engine = engine
        self._clock = clock
        self._free: deque[Connection] = deque()

    def run(self, query: Callable[[PortTransaction], T]) -> T:
        """Run `query` on what is committed now; its time is not behind what it shows."""
        return self._run(query, connect.begin_snapshot)

    def glance(self, query: Callable[[PortTransaction], T]) -> T:
        """Run `query`, each of its statements on what is committed then."""
        return self._run(query, connect.begin_reading)

    def _run(self, query: Callable[[PortTransaction], T], begin: Callable[[Connection], None]) -> T:
        with errors.translated():
            connection = self._take()
            try:
                # SQLAlchemy's own beginning and end cost more than the rows of a short query.
                begin(connection)
                scope = Scope(connection, self._clock.now(), head=None)
                try:
                    return query(Transaction(scope))
                finally:
                    scope.close()
                    connect.end_reading(connection)
            finally:
                self._free.append(connection)

    def close(self) -> None:
        """Close what is open; no query may be running."""
        while self._free:
            self._free.pop().close()

    def _take(self) -> Connection:
        try:
            return self._free.pop()
        except IndexError:
            return self._engine.connect()
