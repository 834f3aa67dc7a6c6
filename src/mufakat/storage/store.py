"""The store that services see: one writer, many readers, and waiting for what is new."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from mufakat.core import base
from mufakat.core.base import Revision
from mufakat.ports.store import Health
from mufakat.ports.store import Transaction as PortTransaction
from mufakat.storage import (
    backup,
    check,
    clock,
    connect,
    errors,
    generation,
    head_row,
    migrate,
    opening,
    reserve,
    sqlite,
    transfer,
)
from mufakat.storage.archive import Header
from mufakat.storage.notifier import Notifier
from mufakat.storage.scope import Head
from mufakat.storage.sqlite_backend import SqliteBackend
from mufakat.storage.sqlite_snapshots import Snapshots
from mufakat.storage.writer import Writer

T = TypeVar("T")
MARK_SECONDS = 60.0
"""How often the side file follows the database while it is written to."""


async def open_store(
    path: Path,
    *,
    force: bool = False,
    accept_rollback: bool = False,
    address: str = "",
    read_only: bool = False,
    readings: clock.Readings | None = None,
    scripts: Path = migrate.SCRIPTS,
    reserve_bytes: int = reserve.SIZE,
) -> SqliteStore:
    """Open or create the database at `path`; the caller closes what it gets.

    `force` allows network file systems, `accept_rollback` an older copy, `address` is told to
    whoever finds the file in use. A file that cannot be written to is opened for reading alone.
    Raises InUse, StoreCorrupt, StoreNewer, StoreRolledBack, InvalidInput.
    """
    clocks = readings or clock.SystemReadings()

    def opened() -> SqliteStore:
        at = path.resolve()
        if read_only or opening.read_only(at):
            return SqliteStore(sqlite.open_read_only(at, readings=clocks), reserve.Reserve(at))
        database = sqlite.open_database(
            at,
            readings=clocks,
            force=force,
            accept_rollback=accept_rollback,
            address=address,
            scripts=scripts,
        )
        space = reserve.Reserve(at, size=reserve_bytes)
        space.take()
        return SqliteStore(database, space)

    return await asyncio.to_thread(opened)


class SqliteStore:
    """The port's store; made by `open_store`."""

    away = False
    """A file is there."""

    def __init__(self, database: sqlite.Database, space: reserve.Reserve) -> None:
        self.path = database.path
        self.read_only = database.writer is None
        self._clock = database.clock
        self._snapshots = Snapshots(database.readers, clock=database.clock)
        self._pool = ThreadPoolExecutor(sqlite.READERS, thread_name_prefix="store-reader")
        self._notifier = Notifier(database.head.revision)
        self._resources = database.resources
        self._damage = ""
        self._reserve = space
        self._marked = (time.monotonic(), database.head)
        self._closed = False
        self._writer: Writer | None = None
        if database.writer is not None:
            self._writer = Writer(
                SqliteBackend(database.writer, idle=self._idle),
                database.head,
                clock=database.clock,
                committed=self._committed,
            )
            self._writer.start()

    async def write(self, step: Callable[[PortTransaction], T]) -> T:
        """Run `step` in the writer's thread; answers after its commit is on disk.

        A caller that is cancelled meanwhile does not undo a step that has begun.
        """
        if self._writer is None:
            raise base.StoreReadOnly(fix=f"make {self.path} and its folder writable")
        if self._damage:
            raise base.StoreCorrupt(self._damage, fix="mufakat restore <newest backup>")
        try:
            result: T = await asyncio.wrap_future(self._writer.submit(step))
        except base.StoreCorrupt as error:
            self._damage = str(error)
            raise
        except base.StorageFull:
            await asyncio.to_thread(self._reserve.free)
            raise
        return result

    async def read(self, query: Callable[[PortTransaction], T]) -> T:
        """Run `query` in a reader's thread on one snapshot."""
        return await self._in_reader(lambda: self._snapshots.run(query))

    async def glance(self, query: Callable[[PortTransaction], T]) -> T:
        """Run `query` here: readers of a file never wait, and a thread costs more than a row."""
        self._refuse_closed()
        with self._noticing():
            return self._snapshots.glance(query)

    async def wait(self, after: Revision, *, seconds: float) -> Revision:
        """Sleep until there is something to read beyond `after`."""
        return Revision(await self._notifier.wait(after, seconds=seconds))

    async def backup(self, target: Path) -> Path:
        """Back up into the new file `target`, or under a name of ours into the folder `target`."""
        head = await self.read(lambda tx: tx.events.head())
        note = f"r{head}"
        return await self._in_reader(lambda: self._back_up(target, note))

    async def check(self, *, deep: bool = False) -> Health:
        """Look for damage; `deep` reads every row and compares its digest."""
        return await self._in_reader(lambda: self._check(deep))

    async def export(self, target: Path) -> Header:
        """Write every record into the new archive `target`."""
        return await self._in_reader(lambda: self._export(target))

    async def close(self) -> None:
        """Finish what is queued, remember how far the log came, and let the next process in."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    async def _in_reader(self, work: Callable[[], T]) -> T:
        self._refuse_closed()
        with self._noticing():
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise base.Unavailable("The store is closed.")

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Remember damage that a reader finds: nothing is written on top of it."""
        try:
            yield
        except base.StoreCorrupt as error:
            self._damage = str(error)
            raise

    def _back_up(self, target: Path, note: str) -> Path:
        with errors.translated(), errors.files():
            return backup.into(self.path, target.absolute(), self._clock.now(), note)

    def _check(self, deep: bool) -> Health:
        engine = connect.single(self.path, query="mode=ro")
        try:
            with errors.translated(), engine.connect() as connection, connection.begin():
                found = check.health(connection, deep=deep)
                known = head_row.read(connection)
        finally:
            engine.dispose()
        facts = (
            ("path", str(self.path)),
            ("schema", migrate.newest()),
            ("generation", str(known.generation)),
            ("epoch", known.epoch),
            ("revision", str(known.revision)),
            ("reserve file", "held" if self._reserve.held else "given up"),
            ("clock ahead of mark at start, ms", str(self._clock.gap)),
            ("wall clock ahead of store's, ms", str(self._clock.drift())),
        )
        return Health(found.problems, facts + found.facts)

    def _export(self, target: Path) -> Header:
        engine = connect.single(self.path, query="mode=ro")
        try:
            with (
                errors.translated(),
                errors.files(),
                engine.connect() as connection,
                connection.begin(),
            ):
                return transfer.export(connection, target)
        finally:
            engine.dispose()

    def _committed(self, head: Head) -> None:
        self._notifier.advance(head.revision)
        if time.monotonic() - self._marked[0] > MARK_SECONDS:
            self._mark(head)

    def _idle(self, connection: Connection) -> None:
        try:
            empty_log(connection)
            self._reserve.take()
        except (sqlite3.Error, OSError):
            # Tidying up can wait; a write that meets the same trouble will say so.
            pass
        if self._writer is not None:
            self._mark(self._writer.head)

    def _mark(self, head: Head) -> None:
        if head.revision == self._marked[1].revision:
            return
        self._marked = (time.monotonic(), head)
        try:
            generation.write(self.path, generation.mark_of(head))
        except OSError:
            # On a full disk the older mark stays: it only notices less.
            return

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.stop()
            self._mark(self._writer.head)
        self._notifier.close()
        self._pool.shutdown()
        self._snapshots.close()
        self._resources.close()


def empty_log(connection: Connection) -> None:
    """Move the write-ahead log into the database, unless a reader is in the way just now."""
    raw = connect.driver_connection(connection)
    raw.execute("PRAGMA busy_timeout=0").fetchall()
    try:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        raw.execute(f"PRAGMA busy_timeout={connect.BUSY_MS}").fetchall()
