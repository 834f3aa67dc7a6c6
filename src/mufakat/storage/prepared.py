"""Statements made ready once: most of what a short one costs is to look at it again each time."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import ClauseElement, Connection, Dialect, Executable, Row
from sqlalchemy.engine import IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

Params = Mapping[str, Any]
SHELF = "prepared"
"""Entry of a connection's `info`."""


@dataclass(frozen=True, slots=True)
class Value:
    """Where the value of one place in a statement comes from."""

    key: str
    default: Any
    required: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement as SQLite's driver takes it."""

    sql: str
    values: tuple[Value, ...]
    columns: SimpleResultMetaData | None
    """Of its rows; None where it gives none."""

    def run(self, connection: Connection, params: Params) -> sqlite3.Cursor:
        """Execute it; raises DBAPIError."""
        given = [params.get(one.key, one.default) for one in self.values]
        return execute(connection, self.sql, given)

    def rows(self, connection: Connection, params: Params) -> Sequence[Row[*tuple[Any, ...]]]:
        """Execute it and read all its rows; raises DBAPIError."""
        assert self.columns is not None
        cursor = self.run(connection, params)
        try:
            found = cursor.fetchall()
        except sqlite3.Error as error:
            raise _wrapped(self.sql, error, connection.dialect) from error
        rows: Any = IteratorResult(self.columns, iter(found))
        answer: Sequence[Row[*tuple[Any, ...]]] = rows.all()
        return answer


class Shelf:
    """What one connection has made ready, by statement and by the names of its values."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Executable, dict[tuple[str, ...], Prepared | None]] = (
            WeakKeyDictionary()
        )

    def find(
        self, connection: Connection, statement: Executable, params: Params
    ) -> Prepared | None:
        """The statement made ready; None where only SQLAlchemy itself can execute it."""
        listened = bool(connection.dispatch.before_cursor_execute)
        if connection.dialect.name != "sqlite" or listened or not connection.in_transaction():
            return None
        forms = self._known.get(statement)
        if forms is None:
            forms = self._known[statement] = {}
        names = tuple(params)
        if names not in forms:
            forms[names] = _prepare(statement, names, connection.dialect)
        found = forms[names]
        if found is None or any(one.required and one.key not in params for one in found.values):
            return None
        return found


def shelf(connection: Connection) -> Shelf:
    """What this connection has made ready; it lasts as long as the driver's connection."""
    known: Shelf | None = connection.info.get(SHELF)
    if known is None:
        known = connection.info[SHELF] = Shelf()
    return known


def execute(connection: Connection, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
    """Execute in the transaction of `connection`; raises DBAPIError as SQLAlchemy does."""
    raw: Any = connection.connection.dbapi_connection
    try:
        cursor: sqlite3.Cursor = raw.execute(sql, values)
    except sqlite3.Error as error:
        raise _wrapped(sql, error, connection.dialect) from error
    return cursor


def _prepare(statement: Executable, names: tuple[str, ...], dialect: Dialect) -> Prepared | None:
    if not isinstance(statement, ClauseElement) or statement.get_execution_options():
        return None
    compiled = statement.compile(dialect=dialect, column_keys=sorted(names))
    if not isinstance(compiled, SQLCompiler) or not _plain(compiled, dialect):
        return None
    by_name = {name: bind for bind, name in compiled.bind_names.items()}
    binds = [by_name[name] for name in compiled.positiontup or ()]
    values = tuple(Value(bind.key, bind.value, bool(bind.required)) for bind in binds)
    entries = compiled._result_columns
    columns = SimpleResultMetaData([entry.keyname for entry in entries]) if entries else None
    return Prepared(str(compiled), values, columns)


def _plain(compiled: SQLCompiler, dialect: Dialect) -> bool:
    """Whether nothing has to be done with it, its values and its rows for each execution."""
    rewritten = compiled.post_compile_params or compiled.literal_execute_params
    filled = compiled.insert_prefetch or compiled.update_prefetch or compiled.implicit_returning
    if rewritten or filled:
        return False
    given = [
        bind.type.dialect_impl(dialect).bind_processor(dialect) for bind in compiled.bind_names
    ]
    found = [
        one.type.dialect_impl(dialect).result_processor(dialect, None)
        for one in compiled._result_columns
    ]
    called = [bind.callable for bind in compiled.bind_names]
    return not any((*given, *found, *called))


def _wrapped(sql: str, error: sqlite3.Error, dialect: Dialect) -> BaseException:
    # Values in an exception would carry what was said into the log.
    return DBAPIError.instance(
        sql, None, error, sqlite3.Error, hide_parameters=True, dialect=dialect
    )
