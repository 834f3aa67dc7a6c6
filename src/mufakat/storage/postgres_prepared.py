"""Statements made ready once for PostgreSQL, and sent through libpq without anything between.

A cursor of psycopg's costs more than a short statement; its parts that turn values into
text, and text into values, are used here as they are.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.exc import DBAPIError

from mufakat.storage import prepared
from mufakat.storage.prepared import Params, Prepared, Rows

PLACEHOLDERS = "numeric_dollar"
"""PostgreSQL's own."""
FLOAT8 = 701
"""Number of the type of `double precision`."""


class PostgresStatements:
    """Those of one connection of psycopg's; the server parses and plans each once."""

    def __init__(self, raw: Any, dialect: Dialect) -> None:
        driver: Any = dialect.dbapi
        kind: Any = type(dialect)
        status = driver.pq.ExecStatus
        self._dialect = dialect
        self._driver = driver
        self._pq = raw.pgconn
        self._values = driver.adapt.Transformer(raw)
        self._good = (status.COMMAND_OK, status.TUPLES_OK)
        # As text every number has the type that the statement says, whatever its size.
        self._text = driver.adapt.PyFormat.TEXT
        self._form: Dialect = kind(paramstyle=PLACEHOLDERS)
        self._known: dict[tuple[object, ...], Prepared | None] = {}
        self._names: dict[str, bytes] = {}

    def rows(self, statement: Executable, params: Params) -> Rows | None:
        """All rows; raises DBAPIError."""
        found = self.find(statement, params)
        if found is None or found.row is None:
            return None
        return self._read(found, self._run(found, params))

    def change(self, statement: Executable, params: Params) -> int | None:
        """Execute what gives no rows, and answer how many it changed; raises DBAPIError."""
        found = self.find(statement, params)
        if found is None or found.row is not None:
            return None
        return int(self._run(found, params).command_tuples or 0)

    def begin(self, statement: Executable) -> Rows:
        """Begin a transaction and read its first rows, in one round trip; raises DBAPIError."""
        found = self.find(statement, {})
        assert found is not None
        return self._read(found, self._send(f"BEGIN; {found.sql}"))

    def commit(self) -> None:
        """Commit; raises DBAPIError also where the server has undone the transaction instead."""
        if self._send("COMMIT").command_status != b"COMMIT":
            raise self._wrapped("COMMIT", self._driver.OperationalError("It was undone."))

    def execute(self, sql: str) -> None:
        """Execute statements that take no values and give no rows; raises DBAPIError."""
        self._send(sql)

    def find(self, statement: Executable, params: Params) -> Prepared | None:
        """The statement made ready for values of these names; None where that cannot be."""
        key = (statement, *params)
        try:
            return self._known[key]
        except KeyError:
            if len(self._known) >= prepared.KEPT:
                self._known.clear()
            made = self._known[key] = prepared.prepare(
                statement, tuple(params), self._form, fractions=FLOAT8
            )
            return made

    def _run(self, found: Prepared, params: Params) -> Any:
        given = found.values(params)
        try:
            name = self._names.get(found.sql) or self._prepared(found.sql)
            values = self._values.dump_sequence(given, [self._text] * len(given))
            return self._checked(self._pq.exec_prepared(name, values))
        except self._driver.Error as error:
            raise self._wrapped(found.sql, error) from error

    def _prepared(self, sql: str) -> bytes:
        name = f"mufakat_{len(self._names)}".encode()
        self._checked(self._pq.prepare(name, sql.encode()))
        self._names[sql] = name
        return name

    def _send(self, sql: str) -> Any:
        try:
            return self._checked(self._pq.exec_(sql.encode()))
        except self._driver.Error as error:
            raise self._wrapped(sql, error) from error

    def _read(self, found: Prepared, result: Any) -> Rows:
        self._values.set_pgresult(result)
        rows: Rows = self._values.load_rows(0, result.ntuples, found.row)
        return rows

    def _checked(self, result: Any) -> Any:
        if result.status in self._good:
            return result
        error = self._driver.errors.error_from_result(result, "utf-8")
        if error.sqlstate is None:
            # Not the server's word but libpq's: the connection has ended.
            error = self._driver.OperationalError(str(error))
        raise error

    def _wrapped(self, sql: str, error: BaseException) -> BaseException:
        # Values in an exception would carry what was said into the log.
        return DBAPIError.instance(
            sql, None, error, self._driver.Error, hide_parameters=True, dialect=self._dialect
        )


def of(connection: Connection) -> PostgresStatements:
    """What this connection has made ready; it lasts as long as the driver's connection."""
    known: PostgresStatements | None = connection.info.get(prepared.STATEMENTS)
    if known is None:
        raw = connection.connection.dbapi_connection
        known = PostgresStatements(raw, connection.dialect)
        connection.info[prepared.STATEMENTS] = known
    return known


def lost(connection: Connection) -> bool:
    """Whether the driver's connection has ended."""
    if connection.invalidated:
        return True
    raw: Any = connection.connection.dbapi_connection
    return bool(raw.closed)
