"""Moving every record from one database to another, in the order that references need."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, insert, select

from mufakat.core import base
from mufakat.ports.store import Transaction as PortTransaction
from mufakat.storage import archive, head_row, migrate, recall_tables, tables
from mufakat.storage.archive import Content, Header, Tally
from mufakat.storage.scope import Head, Scope
from mufakat.storage.transaction import Transaction

BATCH = 200
LARGEST = 1 << 63
HEAD = tables.head.name


def export(connection: Connection, target: Path) -> Header:
    """Write the connection's snapshot into the new file `target`; answers what is in it."""
    contents = tuple(_content(table, _lines(connection, table)) for table in _tables())
    header = Header(migrate.newest(), contents)
    lines = itertools.chain.from_iterable(_lines(connection, table) for table in _tables())
    archive.write(target, header, lines)
    return header


def verify(source: Path) -> Header:
    """Read a whole archive and check every value; raises InvalidInput, writes nothing."""
    with archive.opened(source) as found:
        _agree(found.header)
        for table, row in found.rows():
            _check(tables.metadata.tables[table.name], row)
        return found.header


def load(source: Path) -> Callable[[PortTransaction], Header]:
    """A step that fills an empty store, compares it with the archive, and begins a new history.

    It raises Conflict where the store is not empty; then, and after any error, nothing remains.
    """

    def step(tx: PortTransaction) -> Header:
        assert isinstance(tx, Transaction)
        return _load(tx._scope, source)

    return step


def _load(scope: Scope, source: Path) -> Header:
    own = scope.writable()
    if own.revision or any(
        scope.rows(select(table).limit(1)) for table in _tables() if _moves(table)
    ):
        raise base.Conflict(
            "The store holds records already; an archive goes only into an empty one.",
            fix="choose another --home, or an empty database",
        )
    with archive.opened(source) as found:
        _agree(found.header)
        head = own
        for name, rows in itertools.groupby(found.rows(), key=lambda pair: pair[0].name):
            table = tables.metadata.tables[name]
            values = (_values(table, row) for _, row in rows)
            if _moves(table):
                _insert(scope, table, values)
            else:
                head = Head(**{k: v for k, v in next(values).items() if k != "id"})
                _exhaust(values)
        _compare(scope, found.header)
    scope.head = replace(
        own,
        epoch=head_row.new_epoch(),
        generation=max(own.generation, head.generation) + 1,
        revision=head.revision,
        hwm=max(own.hwm, head.hwm),
        chain=head.chain,
    )
    return found.header


def _insert(scope: Scope, table: Table, values: Iterator[dict[str, Any]]) -> None:
    statement = insert(table)
    while batch := list(itertools.islice(values, BATCH)):
        scope.change_many(statement, batch)


def _compare(scope: Scope, header: Header) -> None:
    """Raise StoreError where the database gives back anything but what was in the archive."""
    for wanted in header.tables:
        table = tables.metadata.tables[wanted.name]
        if not _moves(table):
            continue
        lines = (archive.encode(row) for row in scope.each(_all(table), size=BATCH))
        if _content(table, lines) != wanted:
            raise base.StoreError(
                f"The table {wanted.name} was not stored as it was read; nothing was changed."
            )


def _tables() -> Sequence[Table]:
    """All tables but those that are derived from others; those that others refer to first."""
    return [
        table
        for table in tables.metadata.sorted_tables
        if not table.info.get(recall_tables.DERIVED)
    ]


def _moves(table: Table) -> bool:
    """Whether rows are stored as they are; the head row only tells where to go on."""
    return table.name != HEAD


def _all(table: Table) -> Select[*tuple[Any, ...]]:
    return select(table).order_by(*table.primary_key)


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    options = {"yield_per": BATCH}
    with connection.execute(_all(table), execution_options=options) as rows:
        for row in rows:
            yield archive.encode(row)


def _content(table: Table, lines: Iterator[bytes]) -> Content:
    tally = Tally()
    for line in lines:
        tally.add(line)
    return tally.content(table.name, table.columns.keys())


def _agree(header: Header) -> None:
    known = [(table.name, tuple(table.columns.keys())) for table in _tables()]
    archive.agree(header, schema=migrate.newest(), tables=known)


def _values(table: Table, row: list[Any]) -> dict[str, Any]:
    return dict(zip(table.columns.keys(), row, strict=True))


def _exhaust(values: Iterator[object]) -> None:
    if next(values, None) is not None:
        raise base.InvalidInput("The archive has more than one head row.")


def _check(table: Table, row: list[Any]) -> None:
    """Raise InvalidInput for a value that its column cannot hold in every database."""
    for column, value in zip(table.columns, row, strict=True):
        if not _fits(column, value):
            raise base.InvalidInput(
                f"The archive was not taken: a value of {table.name}.{column.name} does not fit.",
                fix="use a file that `mufakat export` has written",
            )


def _fits(column: Column[Any], value: object) -> bool:
    match value:
        case None:
            return bool(column.nullable)
        case str():
            return column.type.python_type is str and _storable(value)
        case bool():
            return False
        case int():
            return column.type.python_type in (int, float) and -LARGEST <= value < LARGEST
        case float():
            return column.type.python_type is float and math.isfinite(value)
        case _:
            return False


def _storable(text: str) -> bool:
    """Whether both databases can hold a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
