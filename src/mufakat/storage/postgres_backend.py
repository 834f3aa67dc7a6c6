"""The writer's hold on PostgreSQL: the head row's lock puts the batches of all servers in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func
from sqlalchemy.exc import SQLAlchemyError

from mufakat.storage import head_row, postgres_history, postgres_sessions
from mufakat.storage.clock import HighWater
from mufakat.storage.postgres_outage import Outage
from mufakat.storage.scope import Head

CHANNEL = "mufakat"
_SAVE_AND_WAKE = head_row.SAVE.returning(func.pg_notify(CHANNEL, ""))
"""The notification leaves with the commit; it is empty, for it only wakes."""


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
        self.connection.exec_driver_sql(_UNDO)


class PostgresBackend:
    """Begins each batch with the head row locked, so that no other server is between."""

    def __init__(
        self, engine: Engine, *, clock: HighWater, outage: Outage, idle: Callable[[], None]
    ) -> None:
        """`idle` is called in the writer's thread when nothing came for a while."""
        self._engine = engine
        self._idle = idle
        self._clock = clock
        self._outage = outage
        self._marked = False

    @contextmanager
    def transaction(self, known: Head) -> Iterator[tuple[Connection, Head]]:
        """A transaction that holds the head row; others may have moved it since `known`."""
        connection, head = postgres_sessions.begin(self._engine, self._outage, lock=True)
        self._marked = False
        try:
            postgres_history.refuse_older(known, head)
            self._clock.reach(head.hwm)
            yield connection, head
            connection.commit()
        except BaseException:
            with suppress(SQLAlchemyError):
                connection.rollback()
            raise
        finally:
            connection.close()

    def savepoint(self, connection: Connection) -> Step:
        """A savepoint, sent together with the end of the one before."""
        connection.exec_driver_sql(_NEXT if self._marked else _FIRST)
        self._marked = True
        return Step(connection)

    def save(self, connection: Connection, head: Head, *, grown: bool) -> None:
        """Write the head row, and wake the other servers where there is something to read."""
        statement = _SAVE_AND_WAKE if grown else head_row.SAVE
        connection.execute(statement, head_row.values(head))

    def idle(self) -> None:
        """PostgreSQL tidies up by itself; the store may have something to remember."""
        self._idle()

    def close(self) -> None:
        """The pool is closed with the store."""
