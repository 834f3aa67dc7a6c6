"""The writer's hold on an SQLite file: this process alone writes, so the head is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

from mufakat.storage import head_row, prepared
from mufakat.storage.scope import Head


class SqliteBackend:
    """One connection for as long as the writer lives."""

    def __init__(self, engine: Engine, *, idle: Callable[[Connection], None]) -> None:
        """`idle` is called in the writer's thread when nothing came for a while."""
        self._engine = engine
        self._idle = idle
        self._connection: Connection | None = None

    @contextmanager
    def transaction(self, known: Head) -> Iterator[tuple[Connection, Head]]:
        """A transaction that holds the write lock; nobody else can have moved the head."""
        connection = self._open()
        with connection.begin():
            yield connection, known

    def savepoint(self, connection: Connection) -> Savepoint:
        """A savepoint of SQLite's."""
        return Savepoint(connection)

    def save(self, connection: Connection, head: Head, *, grown: bool) -> None:
        """Write the head row; whoever waits is in this process and is told after the commit."""
        connection.execute(head_row.SAVE, head_row.values(head))

    def idle(self) -> None:
        """Let the store tidy up."""
        self._idle(self._open())

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection


class Savepoint:
    """One step's part of a transaction; SQLAlchemy's own costs as much as several statements."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        prepared.execute(connection, "SAVEPOINT step")

    def commit(self) -> None:
        """Keep what the step wrote, if the transaction commits."""
        prepared.execute(self._connection, "RELEASE step")

    def rollback(self) -> None:
        """Undo what the step wrote, and nothing else."""
        prepared.execute(self._connection, "ROLLBACK TO step")
        prepared.execute(self._connection, "RELEASE step")
