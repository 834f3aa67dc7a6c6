"""Connections that stay open from one transaction to the next: opening one costs as much as it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from mufakat.core import base
from mufakat.storage import errors, head_row, postgres_prepared
from mufakat.storage.postgres_outage import Outage
from mufakat.storage.scope import Head

LOCKED = head_row.READ.with_for_update()
"""The head, with the lock that only the commit gives back."""


class Connections:
    """Those of one engine; as many as there are threads that use them at once."""

    def __init__(self, engine: Engine, outage: Outage) -> None:
        """`engine` opens a new connection each time that it is asked."""
        self._engine = engine
        self._outage = outage
        self._free: deque[Connection] = deque()

    @contextmanager
    def transaction(self, *, lock: bool) -> Iterator[tuple[Connection, Head]]:
        """A transaction that begins with reading the head; `lock` keeps other writers out.

        It commits at its end; an error inside undoes it. Raises Unavailable at once while the
        database is known to be out of reach.
        """
        connection, head = self._begin(lock=lock)
        try:
            yield connection, head
            _commit(connection)
        except BaseException:
            self._undo(connection)
            raise
        self._free.append(connection)

    def close(self) -> None:
        """Close all; no transaction may be open."""
        while self._free:
            _end(self._free.pop())

    def _begin(self, *, lock: bool) -> tuple[Connection, Head]:
        """A connection that died while nobody used it is replaced once: nothing was done on it."""
        self._outage.refuse()
        for last in (False, True):
            connection: Connection | None = None
            try:
                connection = self._free.pop() if self._free else self._engine.connect()
                ready = postgres_prepared.of(connection)
                head = head_row.head_of(ready.begin(LOCKED if lock else head_row.READ))
            except (SQLAlchemyError, base.MufakatError) as error:
                lost = connection is None or postgres_prepared.lost(connection)
                if connection is not None:
                    self._undo(connection)
                    if lost and not last:
                        # What ended this one has ended the others that lay beside it.
                        self.close()
                        continue
                raise self._failed(error, lost=lost) from error
            self._outage.over()
            return connection, head
        raise AssertionError("the loop answers or raises")

    def _undo(self, connection: Connection) -> None:
        """Roll back, and keep the connection where it lives."""
        with suppress(SQLAlchemyError):
            _roll_back(connection)
            self._free.append(connection)
            return
        _end(connection)

    def _failed(
        self, error: SQLAlchemyError | base.MufakatError, *, lost: bool
    ) -> base.MufakatError:
        told = error if isinstance(error, base.MufakatError) else errors.translate(error)
        if lost and isinstance(told, base.Unavailable):
            self._outage.failed(told)
        elif lost:
            # Something answers, though it is not what we may use.
            self._outage.over()
        return told


def _commit(connection: Connection) -> None:
    """SQLAlchemy knows of the transaction only where it has executed something in it."""
    if connection.in_transaction():
        connection.commit()
    else:
        postgres_prepared.of(connection).commit()


def _roll_back(connection: Connection) -> None:
    if connection.in_transaction():
        connection.rollback()
    else:
        postgres_prepared.of(connection).execute("ROLLBACK")


def _end(connection: Connection) -> None:
    with suppress(SQLAlchemyError):
        connection.close()
