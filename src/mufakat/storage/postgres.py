"""The store on PostgreSQL: several servers on one database, in the order of its head row."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from mufakat.core import base
from mufakat.core.base import Revision
from mufakat.ports.store import Health
from mufakat.ports.store import Transaction as PortTransaction
from mufakat.storage import (
    check,
    clock,
    errors,
    files,
    head_row,
    lock,
    migrate,
    postgres_address,
    postgres_backup,
    postgres_mark,
    postgres_opening,
    postgres_sessions,
    transfer,
)
from mufakat.storage.archive import Header
from mufakat.storage.notifier import Notifier
from mufakat.storage.postgres_backend import PostgresBackend
from mufakat.storage.postgres_connections import Connections
from mufakat.storage.postgres_history import History
from mufakat.storage.postgres_listener import Listener
from mufakat.storage.postgres_opening import Opened, Options
from mufakat.storage.postgres_outage import Outage
from mufakat.storage.postgres_readers import Readers
from mufakat.storage.postgres_sessions import Sessions
from mufakat.storage.scope import Head
from mufakat.storage.writer import Writer

T = TypeVar("T")
log = logging.getLogger(__name__)
READERS = 4
RESTORE = "restore a backup of PostgreSQL with pg_restore"
LOCKED = "postgres"
"""A home's server holds `postgres.lock`; the database itself takes several servers."""
MARK_SECONDS = 60.0
"""How often the side file follows the database while it is written to."""


async def open_store(
    url: str,
    *,
    home: Path,
    accept_rollback: bool = False,
    readings: clock.Readings | None = None,
    address: str = "",
    scripts: Path = migrate.SCRIPTS,
) -> PostgresStore:
    """Open or create the store at `url`; the caller closes what it gets.

    `home` keeps the side file and belongs to one server, whose `address` is told to the next one;
    `accept_rollback` takes a database that is older than the home knows.
    Raises InvalidInput, Unavailable, InUse, StoreNewer, StoreRolledBack, StoreError.
    """
    place = postgres_address.parse(url)
    options = Options(home, accept_rollback, scripts, address)
    clocks = readings or clock.SystemReadings()
    return await asyncio.to_thread(
        lambda: PostgresStore(postgres_opening.sessions_of(place), clocks, options=options)
    )


class PostgresStore:
    """The port's store; made by `open_store`."""

    def __init__(self, sessions: Sessions, readings: clock.Readings, *, options: Options) -> None:
        """Connects, migrates and starts; blocks meanwhile."""
        self._home = options.home
        self._closed = False
        self._damage = ""
        with ExitStack() as undo, errors.translated(), errors.files():
            files.private_folder(options.home)
            undo.callback(lock.acquire(options.home / LOCKED, address=options.address).release)
            listening = sessions.engine("listener", postgres_sessions.WRITER, autocommit=True)
            self._listener = Listener(listening, seen=self._saw, name=sessions.name)
            undo.callback(self._listener.stop)
            self._opened = postgres_opening.prepare(sessions, self._listener, options=options)
            self._sessions = postgres_opening.expecting(sessions, self._opened)
            self._history = History(self._opened.head)
            self._notifier = Notifier(self._opened.head.revision)
            self._marked = (time.monotonic(), self._opened.head)
            self._start(postgres_opening.clock_of(self._opened, readings))
            self._resources = undo.pop_all()
        for warning in self._opened.server.warnings:
            log.warning("PostgreSQL: %s", warning)

    @property
    def away(self) -> bool:
        """Whether PostgreSQL did not answer when it was tried last."""
        return self._outage.lasts

    @property
    def opened(self) -> Opened:
        """What was found at the start."""
        return self._opened

    async def write(self, step: Callable[[PortTransaction], T]) -> T:
        """Run `step` in the writer's thread; answers after its commit is durable.

        Raises Unavailable while PostgreSQL is out of reach. A caller that is cancelled meanwhile
        does not undo a step that has begun.
        """
        if self._damage:
            raise base.StoreCorrupt(self._damage, fix=RESTORE)
        try:
            result: T = await asyncio.wrap_future(self._writer.submit(step))
        except base.StoreCorrupt as error:
            self._damage = str(error)
            raise
        return result

    async def read(self, query: Callable[[PortTransaction], T]) -> T:
        """Run `query` in a reader's thread on one snapshot."""
        return await self._in_reader(lambda: self._readers.snapshot(query))

    async def glance(self, query: Callable[[PortTransaction], T]) -> T:
        """As `read`: every question goes over the network."""
        return await self.read(query)

    async def wait(self, after: Revision, *, seconds: float) -> Revision:
        """Sleep until any server has written beyond `after`."""
        return Revision(await self._notifier.wait(after, seconds=seconds))

    async def backup(self, target: Path) -> Path:
        """Dump into the new file `target`, or under a name of ours into the folder `target`."""
        address, head = self._sessions.address, self._history.head
        return await self._in_reader(
            lambda: postgres_backup.into(address, target, now=self._clock.now(), head=head)
        )

    async def check(self, *, deep: bool = False) -> Health:
        """Look for damage; `deep` reads every row and compares its digest."""
        return await self._in_reader(lambda: self._check(deep))

    async def export(self, target: Path) -> Header:
        """Write every record into the new archive `target`; others go on meanwhile."""
        return await self._in_reader(lambda: self._scan(lambda one: transfer.export(one, target)))

    async def close(self) -> None:
        """Finish what is queued, and remember how far the log came."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    def _start(self, high: clock.HighWater) -> None:
        self._clock = high
        self._outage = Outage()
        reading = self._sessions.engine("reader", postgres_sessions.READER)
        writing = postgres_opening.writing(self._sessions, self._opened)
        self._reading = Connections(reading, self._outage)
        self._writing = Connections(writing, self._outage)
        self._readers = Readers(self._reading, clock=high, history=self._history)
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        name = self._sessions.name
        backend = PostgresBackend(self._writing, clock=high, idle=self._mark, name=name)
        self._writer = Writer(backend, self._opened.head, clock=high, committed=self._committed)
        self._writer.start()
        self._listener.start()

    async def _in_reader(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise base.Unavailable("The store is closed.")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        except base.StoreCorrupt as error:
            self._damage = str(error)
            raise

    def _check(self, deep: bool) -> Health:
        head, found = self._scan(
            lambda one: (head_row.read(one), check.health(one, deep=deep)),
        )
        server = self._opened.server
        facts = (
            ("path", self._sessions.address.shown),
            ("schema", migrate.newest()),
            ("generation", str(head.generation)),
            ("epoch", head.epoch),
            ("revision", str(head.revision)),
            ("PostgreSQL", str(server.version // 10_000)),
            ("synchronous_commit", server.synchronous_commit),
            ("warnings", "; ".join(server.warnings) or "none"),
            ("wall clock ahead of store's, ms", str(self._clock.drift())),
        )
        return Health(found.problems, facts + found.facts)

    def _scan(self, work: Callable[[Connection], T]) -> T:
        """Run what reads everything on one snapshot, without the deadline of a query."""
        with ExitStack() as undo, errors.translated(), errors.files():
            engine = self._sessions.engine("scan", postgres_sessions.SCAN)
            undo.callback(engine.dispose)
            return work(undo.enter_context(closing(engine.connect())))

    def _committed(self, head: Head) -> None:
        self._saw(head)
        if time.monotonic() - self._marked[0] > MARK_SECONDS:
            self._mark()

    def _saw(self, head: Head) -> None:
        self._history.saw(head)
        self._notifier.advance(head.revision)

    def _mark(self) -> None:
        head = self._history.head
        if head == self._marked[1]:
            return
        self._marked = (time.monotonic(), head)
        mark = postgres_opening.mark_of(self._sessions, self._opened.server, head)
        try:
            postgres_mark.write(self._home, mark)
        except OSError:
            # On a full disk the older mark stays: it only notices less.
            return

    def _close(self) -> None:
        self._writer.stop()
        self._mark()
        self._notifier.close()
        self._pool.shutdown()
        self._writing.close()
        self._reading.close()
        self._resources.close()
