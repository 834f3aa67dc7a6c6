"""What the queries of one transaction share: the connection, its clock and the log's head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from sqlalchemy import Connection, Executable, Row
from sqlalchemy.exc import DBAPIError

from mufakat.core import base
from mufakat.storage import errors, prepared

Params = Mapping[str, Any]
Record = Row[*tuple[Any, ...]]
"""A row of any columns."""


@dataclass(frozen=True, slots=True)
class Head:
    """The one row that every write moves."""

    epoch: str
    generation: int
    revision: int
    hwm: int
    chain: str = ""
    """Of the newest event: what all events before it, and it, come to."""


class Scope:
    """One transaction's connection; refuses use after the step that got it has ended."""

    __slots__ = ("_connection", "_failed", "_ready", "head", "now")

    def __init__(self, connection: Connection, now: base.Millis, *, head: Head | None) -> None:
        """`head` is None on a snapshot, which cannot be written to."""
        self._connection: Connection | None = connection
        self._failed: base.MufakatError | None = None
        self._ready = prepared.of(connection)
        self.now = now
        self.head = head

    def rows(self, statement: Executable, params: Params | None = None) -> Sequence[Record]:
        """All rows; nothing stays open."""
        connection = self._open()
        try:
            found = self._ready.rows(statement, params or {}) if self._ready else None
            return connection.execute(statement, params).all() if found is None else found
        except (DBAPIError, UnicodeEncodeError, OverflowError) as error:
            self._fail(error)

    def row(self, statement: Executable, params: Params | None = None) -> Record | None:
        """The first row, if there is one."""
        rows = self.rows(statement, params)
        return rows[0] if rows else None

    def change(self, statement: Executable, params: Params) -> int:
        """Write, and answer how many rows changed."""
        self.writable()
        connection = self._open()
        try:
            done = self._ready.change(statement, params) if self._ready else None
            return connection.execute(statement, params).rowcount if done is None else done
        except (DBAPIError, UnicodeEncodeError, OverflowError) as error:
            self._fail(error)

    def change_many(self, statement: Executable, rows: Sequence[Params]) -> None:
        """Write many rows with one statement."""
        self.writable()
        connection = self._open()
        try:
            connection.execute(statement, rows)
        except (DBAPIError, UnicodeEncodeError, OverflowError) as error:
            self._fail(error)

    def each(self, statement: Executable, *, size: int) -> Iterator[Record]:
        """All rows, `size` at a time; finish it before the next statement."""
        with self._open().execute(statement, execution_options={"yield_per": size}) as rows:
            yield from rows

    def writable(self) -> Head:
        """The head, or StoreReadOnly on a snapshot."""
        if self.head is None:
            raise base.StoreReadOnly("A read cannot write; use `write`.")
        return self.head

    def outcome(self) -> Head:
        """The head after the step; raises what the database refused, though the step went on."""
        if self._failed is not None:
            raise self._failed
        return self.writable()

    def close(self) -> None:
        """End the use of this transaction."""
        self._connection = None

    def _open(self) -> Connection:
        if self._connection is None:
            raise base.StoreError("A transaction was used after its step had ended.")
        return self._connection

    def _fail(self, error: DBAPIError | UnicodeEncodeError | OverflowError) -> NoReturn:
        if not isinstance(error, DBAPIError):
            raise base.InvalidInput("A value cannot be stored: " + str(error)) from error
        translated = errors.translate(error)
        if not (isinstance(translated, base.Conflict) and self._survives_refusals()):
            # The database may have rolled back by itself; later statements would commit alone.
            self._failed = translated
            self.close()
        raise translated from error

    def _survives_refusals(self) -> bool:
        """Whether a transaction goes on after a statement that broke a constraint."""
        return self._open().dialect.name == "sqlite"
