"""The steps from a path to a database that may be used, in the order that loses nothing."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection

from mufakat.core import base
from mufakat.storage import (
    backup,
    connect,
    errors,
    files,
    generation,
    head_row,
    migrate,
    schema,
)
from mufakat.storage.scope import Head

QUICK_SECONDS = 1.0
"""How long the check at start may take; a large database is checked in part."""


def read_only(path: Path) -> bool:
    """Whether the file, or the place where it would be made, cannot be written to."""
    if not path.exists():
        return False
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def first_look(path: Path) -> str:
    """How to open a file before it is known to be ours, as a URI query.

    What a crash interrupted before the first WAL is rolled back by SQLite itself, but not for a
    reader.
    """
    journal = path.with_name(path.name + "-journal")
    return "mode=rw" if journal.exists() and journal.stat().st_size else "mode=ro"


def inspect(path: Path, *, query: str = "mode=ro") -> None:
    """Refuse what is not ours or is damaged, before anything is written."""
    if not path.exists() or not path.stat().st_size:
        return
    with (
        errors.translated(),
        closing(connect.open_raw(path, connect.SAFE, query=query)) as connection,
    ):
        schema.refuse_foreign(connection)
        _quick_check(connection, path)


def prepare(
    path: Path, now: base.Millis, *, scripts: Path = migrate.SCRIPTS, keep_old: bool = True
) -> None:
    """Bring the schema to the newest revision; `keep_old` backs a database with data up first."""
    files.private_file(path)
    engine = connect.single(path, pragmas={**connect.WRITER, "foreign_keys": 0})
    try:
        with errors.translated(), engine.connect() as connection:
            with connection.begin():
                revision = migrate.current(connection)
            migrate.refuse_newer(revision, scripts=scripts)
            if revision == migrate.newest(scripts):
                return
            if revision is not None and keep_old:
                folder = backup.folder_of(path)
                copy = folder / backup.free(folder, now, note=f"schema-{revision}")
                backup.take(path, copy, records=False)
                backup.prune(folder)
            with connection.begin():
                migrate.upgrade(connection, scripts=scripts)
                if revision is None:
                    head_row.begin(connection)
    finally:
        engine.dispose()


def agree(path: Path, connection: Connection, *, accept_rollback: bool) -> Head:
    """Compare the database with its side file; answers the head to go on from."""
    mark = generation.read(path)
    found = head_row.read(connection)
    try:
        generation.refuse_rollback(mark, found)
    except base.StoreRolledBack:
        if not accept_rollback or mark is None:
            raise
        found = head_row.begin_generation(connection, found, at_least=mark.generation)
    return found


def _quick_check(connection: sqlite3.Connection, path: Path) -> None:
    end = time.monotonic() + QUICK_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, connect.STEPS_PER_LOOK)
    try:
        rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return
    finally:
        connection.set_progress_handler(None, 0)
    if rows and rows[0][0] != "ok":
        good = backup.newest(backup.folder_of(path))
        raise base.StoreCorrupt(
            f"The database is damaged ({rows[0][0]}); nothing was written.",
            fix=f"mufakat restore {good}" if good else "restore a backup",
        )


def readable_by(path: Path) -> str:
    """The URI query that can read `path`: without a shared-memory file only as immutable."""
    for query in ("mode=ro", "immutable=1"):
        try:
            with closing(connect.open_raw(path, {}, query=query)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return query
        except sqlite3.OperationalError:
            continue
    raise base.Unavailable(
        f"{path} cannot be opened for reading.", fix="check the owner and mode of the file"
    )
