"""The writer's hold on PostgreSQL: the head row's lock puts the batches of all servers in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func

from mufakat.storage import head_row, postgres_history, postgres_prepared
from mufakat.storage.clock import HighWater
from mufakat.storage.postgres_connections import Connections
from mufakat.storage.scope import Head

CHANNEL = "mufakat"
_SAVE_AND_WAKE = head_row.SAVE.returning(func.pg_notify(CHANNEL, bindparam("writer")))
"""The notification leaves with the commit; it only wakes, and says whom it need not wake."""


# A round trip is most of a short step's cost, so the end of one and the beginning of the next go
# together; the last one ends with its transaction.
_FIRST = "SAVEPOINT step"
_NEXT = "RELEASE SAVEPOINT step; SAVEPOINT step"
_UNDO = "ROLLBACK TO SAVEPOINT step"


@dataclass(frozen=True, slots=True)
class Step:
    """The savepoint of one step."""

    connection: Connection

    def commit(self) -> None:
        """Nothing is sent: what follows releases it."""

    def rollback(self) -> None:
        """Undo the step."""
        postgres_prepared.of(self.connection).execute(_UNDO)


class PostgresBackend:
    """Begins each batch with the head row locked, so that no other server is between."""

    def __init__(
        self, connections: Connections, *, clock: HighWater, idle: Callable[[], None], name: str
    ) -> None:
        """`idle` is called in the writer's thread when nothing came for a while.

        `name` is this server's, which its notifications carry.
        """
        self._name = name
        self._connections = connections
        self._idle = idle
        self._clock = clock
        self._marked = False

    @contextmanager
    def transaction(self, known: Head) -> Iterator[tuple[Connection, Head]]:
        """A transaction that holds the head row; others may have moved it since `known`."""
        with self._connections.transaction(lock=True) as (connection, head):
            self._marked = False
            postgres_history.refuse_older(known, head)
            self._clock.reach(head.hwm)
            yield connection, head

    def savepoint(self, connection: Connection) -> Step:
        """A savepoint, sent together with the end of the one before."""
        postgres_prepared.of(connection).execute(_NEXT if self._marked else _FIRST)
        self._marked = True
        return Step(connection)

    def save(self, connection: Connection, head: Head, *, grown: bool) -> None:
        """Write the head row, and wake the other servers where there is something to read."""
        ready, values = postgres_prepared.of(connection), head_row.values(head)
        if grown:
            ready.rows(_SAVE_AND_WAKE, {**values, "writer": self._name})
        else:
            ready.change(head_row.SAVE, values)

    def idle(self) -> None:
        """PostgreSQL tidies up by itself; the store may have something to remember."""
        self._idle()

    def close(self) -> None:
        """The connection is closed with the store."""
