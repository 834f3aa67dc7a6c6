"""SQLite connections with the pragmas that durability rests on, verified after they are set."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, Pool, QueuePool

from mufakat.core import base
from mufakat.storage import errors

APPLICATION_ID = 0x4D55464B
BUSY_MS = 5000
JOURNAL_LIMIT = 64 * 1024 * 1024
CHECKPOINT_PAGES = 1000
CACHED_STATEMENTS = 512
"""Compiled by SQLite and kept; the driver's own 128 are fewer than there are."""
READ_SECONDS = 2.0
DEADLINE = "deadline"
"""Entry of a reader connection's `info`."""
STEPS_PER_LOOK = 50_000
"""How many steps of SQLite's machine pass between two looks at a reader's deadline."""

SAFE: dict[str, int | str] = {
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
    "busy_timeout": BUSY_MS,
    "foreign_keys": 1,
}
"""What every connection has."""
WRITER: dict[str, int | str] = {
    **SAFE,
    "journal_mode": "wal",
    "synchronous": 2,
    "fullfsync": 1,
    "journal_size_limit": JOURNAL_LIMIT,
    "wal_autocheckpoint": CHECKPOINT_PAGES,
}
"""synchronous=2 is FULL: with NORMAL a power cut loses acknowledged commits; macOS needs
fullfsync for the same."""
READER: dict[str, int | str] = {**SAFE, "wal_autocheckpoint": 0, "query_only": 1}


def open_raw(path: Path, pragmas: dict[str, int | str], *, query: str = "") -> sqlite3.Connection:
    """Open `path` and set and verify `pragmas`; `query` is a URI query such as `mode=ro`."""
    uri = f"file:{quote(str(path))}?{query or 'mode=rw'}"
    connection = sqlite3.connect(
        uri,
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=CACHED_STATEMENTS,
    )
    try:
        for name, wanted in pragmas.items():
            connection.execute(f"PRAGMA {name}={wanted}").fetchall()
        verify(connection, pragmas)
    except BaseException:
        connection.close()
        raise
    return connection


def verify(connection: sqlite3.Connection, pragmas: dict[str, int | str]) -> None:
    """Raise StoreError where a connection does not have the settings asked for."""
    for name, wanted in pragmas.items():
        rows = connection.execute(f"PRAGMA {name}").fetchall()
        if rows and rows[0][0] != wanted:
            raise base.StoreError(
                f"SQLite did not accept {name}={wanted}, it has {rows[0][0]}.",
                fix="put the database on a local disk that supports shared memory",
            )


def writer(path: Path) -> Engine:
    """An engine with one connection whose transactions take the write lock at once."""
    engine = _engine(path, WRITER, query="", pool=QueuePool, size=1)

    @event.listens_for(engine, "begin")
    def take_write_lock(connection: Connection) -> None:
        # A deferred transaction that reads first gets BUSY when it comes to write.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def reader(path: Path, *, size: int = 4, seconds: float = READ_SECONDS, query: str = "") -> Engine:
    """An engine of snapshots that cannot write and are stopped after `seconds`."""
    engine = _engine(path, READER, query=query, pool=QueuePool, size=size)

    @event.listens_for(engine, "connect")
    def watch_the_time(raw: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
        deadline = record.info[DEADLINE] = Deadline(seconds)
        raw.set_progress_handler(deadline.over, STEPS_PER_LOOK)

    @event.listens_for(engine, "begin")
    def take_snapshot(connection: Connection) -> None:
        if not driver_connection(connection).in_transaction:
            begin_snapshot(connection)

    return engine


class Deadline:
    """Until when a reader may read."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = 0.0
        self.start()

    def start(self) -> None:
        """Let the time begin anew."""
        self._end = time.monotonic() + self._seconds

    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._end


def begin_snapshot(connection: Connection) -> None:
    """Begin to read one state of the file on a reader's connection."""
    begin_reading(connection)
    driver_connection(connection).execute("BEGIN")


def begin_reading(connection: Connection) -> None:
    """Begin to read on a reader's connection, each statement by itself."""
    deadline: Deadline = connection.info[DEADLINE]
    deadline.start()


def end_reading(connection: Connection) -> None:
    """End what was begun, whatever was executed meanwhile."""
    if connection.in_transaction():
        connection.rollback()
    raw = driver_connection(connection)
    if raw.in_transaction:
        raw.execute("ROLLBACK")


def single(path: Path, *, query: str = "", pragmas: dict[str, int | str] | None = None) -> Engine:
    """An engine without a pool or a deadline, for checks, copies and migrations."""
    engine = _engine(path, SAFE if pragmas is None else pragmas, query=query, pool=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if not query else "BEGIN")

    return engine


def driver_connection(connection: Connection) -> sqlite3.Connection:
    """The sqlite3 connection under an SQLAlchemy one."""
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _engine(
    path: Path,
    pragmas: dict[str, int | str],
    *,
    query: str,
    pool: type[Pool],
    size: int | None = None,
) -> Engine:
    def create() -> sqlite3.Connection:
        with errors.translated():
            return open_raw(path, pragmas, query=query)

    sizes = {} if size is None else {"pool_size": size, "max_overflow": 0}
    # Values in an exception would carry what was said into the log.
    return create_engine("sqlite://", creator=create, poolclass=pool, hide_parameters=True, **sizes)
