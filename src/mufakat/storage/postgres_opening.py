"""From an address to an open PostgreSQL database: verified, migrated and compared with the mark."""

from __future__ import annotations

import socket
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, Engine

from mufakat.core import base
from mufakat.storage import (
    clock,
    errors,
    head_row,
    migrate,
    postgres_listener,
    postgres_mark,
    postgres_server,
    postgres_sessions,
)
from mufakat.storage.postgres_address import Address
from mufakat.storage.postgres_listener import Listener
from mufakat.storage.postgres_mark import Mark
from mufakat.storage.postgres_server import Server
from mufakat.storage.postgres_sessions import Sessions
from mufakat.storage.scope import Head

OPENING = postgres_listener.LIVE + 1
"""Key of the advisory lock under which one server at a time opens or migrates the database."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What was found while nobody else was opening."""

    server: Server
    head: Head
    alone: bool


@dataclass(frozen=True, slots=True)
class Options:
    """How a database is opened."""

    home: Path
    accept_rollback: bool
    scripts: Path
    address: str = ""
    """Told to whoever finds the home in use."""
    needs_to_be_alone: bool = False
    """An import replaces everything, so nobody else may be there."""


def sessions_of(address: Address) -> Sessions:
    """Sessions under a name that nobody else has."""
    return Sessions(address, f"mufakat-{socket.gethostname()[:24]}-{uuid.uuid4().hex[:8]}")


def prepare(sessions: Sessions, listener: Listener, *, options: Options) -> Opened:
    """Verify the server, bring the schema to the newest revision, and agree with the mark."""
    with ExitStack() as undo, errors.translated(), errors.files():
        engine = sessions.engine("opening", postgres_sessions.WRITER)
        undo.callback(engine.dispose)
        connection = undo.enter_context(engine.connect())
        server = postgres_server.read(connection.connection.driver_connection)
        with connection.begin():
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            connection.exec_driver_sql("SET LOCAL lock_timeout = '60s'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({OPENING})").all()
            alone = listener.connect()
            if options.needs_to_be_alone and not alone:
                raise _others("An import needs the database for itself")
            _migrate(connection, alone=alone, scripts=options.scripts)
            head = head_row.read(connection, lock=True)
            head = _agree(connection, mark_of(sessions, server, head), head, options=options)
    postgres_mark.write(options.home, mark_of(sessions, server, head))
    return Opened(server, head, alone)


def mark_of(sessions: Sessions, server: Server, head: Head) -> Mark:
    """What the home remembers of this database."""
    return postgres_mark.mark_of(sessions.address.shown, server.system, server.timeline, head=head)


def clock_of(opened: Opened, readings: clock.Readings) -> clock.HighWater:
    """The store's clock; a wall clock counts only where no other server lives."""
    return clock.HighWater(opened.head.hwm, readings, alone=opened.alone)


def expecting(sessions: Sessions, opened: Opened) -> Sessions:
    """The same sessions, which from now on reach this server or none."""
    return replace(sessions, expected=opened.server)


def writing(sessions: Sessions, opened: Opened) -> Engine:
    """The writer's one connection; nobody can turn synchronous_commit off beneath it."""
    kept = {"synchronous_commit": opened.server.synchronous_commit}
    return sessions.engine("writer", {**postgres_sessions.WRITER, **kept})


def _migrate(connection: Connection, *, alone: bool, scripts: Path) -> None:
    revision = migrate.current(connection)
    migrate.refuse_newer(revision, scripts=scripts)
    if revision == migrate.newest(scripts):
        return
    if revision is not None and not alone:
        raise _others("The database has an older schema, which is changed only")
    migrate.upgrade(connection, scripts=scripts)
    if revision is None:
        head_row.begin(connection)


def _agree(connection: Connection, found: Mark, head: Head, *, options: Options) -> Head:
    marks = postgres_mark.read(options.home)
    try:
        postgres_mark.refuse_rollback(marks, found)
    except base.StoreRolledBack:
        if not options.accept_rollback:
            raise
        highest = max(mark.generation for mark in marks)
        return head_row.begin_generation(connection, head, at_least=highest)
    return head


def _others(what: str) -> base.InUse:
    return base.InUse(
        f"{what} while no other server uses it, and there is one.",
        fix="stop the other servers: mufakat up --stop",
    )
