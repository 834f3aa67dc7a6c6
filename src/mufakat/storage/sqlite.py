"""From a path to an open SQLite database: one server per file, checked and migrated before use."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from mufakat.core import base
from mufakat.storage import (
    clock,
    connect,
    errors,
    files,
    generation,
    head_row,
    lock,
    migrate,
    opening,
)
from mufakat.storage.scope import Head

READERS = 4
"""Threads; the one that serves has a connection of its own."""


@dataclass(frozen=True, slots=True)
class Database:
    """An open database and everything that must be closed with it."""

    path: Path
    head: Head
    clock: clock.HighWater
    readers: Engine
    writer: Engine | None
    """None where the database can only be read."""
    resources: ExitStack


def open_database(
    path: Path,
    *,
    readings: clock.Readings,
    force: bool,
    accept_rollback: bool,
    address: str,
    scripts: Path,
) -> Database:
    """Lock, check, migrate and open `path`; after an error nothing stays open or locked."""
    with ExitStack() as undo, errors.translated(), errors.files():
        files.private_folder(path.parent)
        if not force:
            lock.refuse_network(path)
        undo.callback(lock.acquire(path, address=address).release)
        if not accept_rollback:
            generation.refuse_missing(path)
        opening.inspect(path, query=opening.first_look(path))
        opening.prepare(path, base.Millis(readings.wall()), scripts=scripts)
        writer = connect.writer(path)
        undo.callback(writer.dispose)
        readers = connect.reader(path, size=READERS + 1)
        undo.callback(readers.dispose)
        with writer.connect() as connection, connection.begin():
            head = opening.agree(path, connection, accept_rollback=accept_rollback)
        generation.write(path, generation.mark_of(head))
        time = clock.HighWater(head.hwm, readings)
        return Database(path, head, time, readers, writer, undo.pop_all())


def open_read_only(path: Path, *, readings: clock.Readings) -> Database:
    """Open a database that cannot be written to; it must have the newest schema already."""
    with ExitStack() as undo, errors.translated(), errors.files():
        query = opening.readable_by(path)
        opening.inspect(path, query=query)
        readers = connect.reader(path, size=READERS + 1, query=query)
        undo.callback(readers.dispose)
        with readers.connect() as connection, connection.begin():
            revision = migrate.current(connection)
            migrate.refuse_newer(revision)
            if revision != migrate.newest():
                raise base.StoreReadOnly(
                    f"The database has the older schema {revision} and cannot be migrated, "
                    "because it is read-only; make it writable once."
                )
            head = head_row.read(connection)
        time = clock.HighWater(head.hwm, readings)
        return Database(path, head, time, readers, None, undo.pop_all())
