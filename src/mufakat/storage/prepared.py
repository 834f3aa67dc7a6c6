"""Statements made ready once: most of what a short one costs is to look at it again each time."""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

from sqlalchemy import BindParameter, ClauseElement, Connection, Dialect, Executable, Row
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Params = Mapping[str, Any]
Rows = Sequence[Row[*tuple[Any, ...]]]
KEPT = 1_000
"""Statements that one connection keeps ready; there are fewer, but nobody counts them."""
STATEMENTS = "statements"
"""Entry of a connection's `info`."""


class Statements(Protocol):
    """What one connection has made ready; both answer None for what it leaves to SQLAlchemy."""

    def rows(self, statement: Executable, params: Params) -> Rows | None:
        """All rows, which unpack and are named as SQLAlchemy's; raises DBAPIError."""
        ...

    def change(self, statement: Executable, params: Params) -> int | None:
        """Execute what gives no rows, and answer how many it changed; raises DBAPIError."""
        ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement as a driver takes it."""

    sql: str
    values: Callable[[Params], Sequence[Any]]
    row: Callable[[Any], Any] | None
    """Names the values of a row; None where it gives none."""


class SqliteStatements:
    """Those of one connection of SQLite's driver."""

    def __init__(self, raw: sqlite3.Connection, dialect: Dialect) -> None:
        self._raw = raw
        self._dialect = dialect
        self._known: dict[tuple[object, ...], Prepared | None] = {}

    def rows(self, statement: Executable, params: Params) -> Rows | None:
        found = self.find(statement, params)
        if found is None or found.row is None:
            return None
        try:
            given = self._raw.execute(found.sql, found.values(params)).fetchall()
        except sqlite3.Error as error:
            raise _wrapped(found.sql, error, self._dialect) from error
        return list(map(found.row, given))

    def change(self, statement: Executable, params: Params) -> int | None:
        found = self.find(statement, params)
        if found is None or found.row is not None:
            return None
        try:
            return self._raw.execute(found.sql, found.values(params)).rowcount
        except sqlite3.Error as error:
            raise _wrapped(found.sql, error, self._dialect) from error

    def find(self, statement: Executable, params: Params) -> Prepared | None:
        """The statement made ready for values of these names; None where that cannot be."""
        key = (statement, *params)
        try:
            return self._known[key]
        except KeyError:
            if len(self._known) >= KEPT:
                self._known.clear()
            made = self._known[key] = prepare(statement, tuple(params), self._dialect)
            return made


def of(connection: Connection) -> Statements | None:
    """What this connection has made ready; None where SQLAlchemy has to execute everything."""
    if connection.dispatch.before_cursor_execute:
        return None
    known: Statements | None = connection.info.get(STATEMENTS)
    if known is None and connection.dialect.name == "sqlite":
        raw: Any = connection.connection.dbapi_connection
        known = connection.info[STATEMENTS] = SqliteStatements(raw, connection.dialect)
    return known


def execute(connection: Connection, sql: str) -> None:
    """Execute in the transaction of `connection`; raises DBAPIError as SQLAlchemy does."""
    raw: Any = connection.connection.dbapi_connection
    try:
        raw.execute(sql)
    except sqlite3.Error as error:
        raise _wrapped(sql, error, connection.dialect) from error


def prepare(
    statement: Executable, names: Sequence[str], dialect: Dialect, *, fractions: object = None
) -> Prepared | None:
    """A statement for values of these names; None where it differs from execution to execution.

    `fractions` is the driver's name for the type of numbers that are not whole.
    """
    if not isinstance(statement, ClauseElement) or statement.get_execution_options():
        return None
    compiled = statement.compile(dialect=dialect, column_keys=sorted(names))
    if not isinstance(compiled, SQLCompiler) or not _plain(compiled, dialect, fractions):
        return None
    by_name = {name: bind for bind, name in compiled.bind_names.items()}
    binds = [by_name[name] for name in compiled.positiontup or ()]
    if any(bind.required and bind.key not in names for bind in binds):
        return None
    columns = [entry.keyname for entry in compiled._result_columns]
    # A row is made for every row that is read, and this is the cheapest that has names.
    row: Any = namedtuple("Row", columns, rename=True) if columns else None  # noqa: PYI024
    return Prepared(str(compiled), _values(binds, names), row and row._make)


def _values(
    binds: Sequence[BindParameter[Any]], names: Sequence[str]
) -> Callable[[Params], Sequence[Any]]:
    keys = [bind.key for bind in binds]
    if len(keys) > 1 and set(keys) <= set(names):
        return itemgetter(*keys)
    given = [(bind.key, bind.value) for bind in binds]
    return lambda params: [params.get(key, default) for key, default in given]


def _plain(compiled: SQLCompiler, dialect: Dialect, fractions: object) -> bool:
    """Whether nothing has to be done with it, its values and its rows for each execution."""
    rewritten = compiled.post_compile_params or compiled.literal_execute_params
    filled = compiled.insert_prefetch or compiled.update_prefetch or compiled.implicit_returning
    if rewritten or filled:
        return False
    given = [
        bind.type.dialect_impl(dialect).bind_processor(dialect) for bind in compiled.bind_names
    ]
    found = [
        one.type.dialect_impl(dialect).result_processor(dialect, fractions)
        for one in compiled._result_columns
    ]
    called = [bind.callable for bind in compiled.bind_names]
    return not any((*given, *found, *called))


def _wrapped(sql: str, error: sqlite3.Error, dialect: Dialect) -> BaseException:
    # Values in an exception would carry what was said into the log.
    return DBAPIError.instance(
        sql, None, error, sqlite3.Error, hide_parameters=True, dialect=dialect
    )
