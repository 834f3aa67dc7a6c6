"""Which PostgreSQL a connection has reached, and whether what it acknowledges is durable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mufakat.core import base

OLDEST = 150_000
"""server_version_num of PostgreSQL 15."""
UNTOLD = ("42501", "0A000", "42883")
"""The user may not ask, or this PostgreSQL does not know the question."""
_READ = """
SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
       current_setting('synchronous_commit'), current_setting('fsync'),
       current_setting('full_page_writes'), current_setting('data_checksums'),
       extract(epoch FROM current_setting('idle_in_transaction_session_timeout')::interval),
       pg_is_in_recovery()
"""
_SYSTEM = "SELECT system_identifier::text FROM pg_control_system()"
# The control file's timeline lags behind a promotion; the name of the current segment does not.
_TIMELINE = "SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"


@dataclass(frozen=True, slots=True)
class Server:
    """What one connection found."""

    version: int
    encoding: str
    synchronous_commit: str
    fsync: str
    full_page_writes: str
    checksums: str
    idle_seconds: float
    standby: bool
    system: str = ""
    """Identifier of the cluster; empty where the user may not ask for it."""
    timeline: str = ""
    """Changes when a standby is promoted; empty where it is not told."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What an operator should know, though it stops nothing."""
        found = []
        if self.checksums != "on":
            found.append("data checksums are off: silent damage of the disk goes unnoticed")
        if self.full_page_writes != "on":
            found.append("full_page_writes is off: a crash may tear pages")
        if not (self.system and self.timeline):
            found.append("the server does not tell who it is: a failover goes unnoticed")
        return tuple(found)


def read(raw: Any) -> Server:
    """Ask a new psycopg connection; leaves no transaction open."""
    with raw.cursor() as cursor:
        cursor.execute(_READ)
        row = cursor.fetchone()
    raw.rollback()
    version, encoding, commit, fsync, full, checksums, idle, standby = row
    found = Server(version, encoding, commit, fsync, full, checksums, float(idle), standby)
    if found.standby:
        return found
    return replace(found, system=_told(raw, _SYSTEM), timeline=_told(raw, _TIMELINE))


def refuse_unsafe(found: Server) -> None:
    """Raise where acknowledged writes could be lost, or a stuck session could block everybody."""
    if found.version < OLDEST:
        raise base.StoreError(
            f"PostgreSQL {found.version // 10_000} is too old; 15 is the oldest that works.",
            fix="upgrade PostgreSQL",
        )
    if found.standby:
        raise base.Unavailable(
            "The PostgreSQL at this address is a standby, which cannot be written to.",
            fix="connect to the primary; add target_session_attrs=read-write to the address",
        )
    if found.encoding != "UTF8":
        raise base.StoreError(
            f"The database has the encoding {found.encoding}.", fix="createdb --encoding=UTF8"
        )
    for name, value, safe in (
        ("synchronous_commit", found.synchronous_commit, ("on", "remote_apply")),
        ("fsync", found.fsync, ("on",)),
    ):
        if value not in safe:
            raise base.StoreError(
                f"PostgreSQL runs with {name}={value}: it would lose acknowledged writes.",
                fix=f"set {name} = on for the server, the database and the user",
            )
    if not found.idle_seconds:
        raise base.StoreError(
            "Session settings do not reach PostgreSQL; a connection pooler drops them.",
            fix="connect to PostgreSQL itself, or to a pooler in session mode",
        )


def refuse_other(expected: Server, found: Server) -> None:
    """Raise StoreRolledBack where the connection has reached another cluster or timeline."""
    for was, now in ((expected.system, found.system), (expected.timeline, found.timeline)):
        if was and now and was != now:
            raise base.StoreRolledBack(
                "Another PostgreSQL answers at the store's address: a failover may have lost "
                "the newest writes.",
                fix="restart with --accept-rollback once you know that it is the right one",
            )


def _told(raw: Any, query: str) -> str:
    """What the server says, or nothing where it may not or cannot."""
    try:
        with raw.cursor() as cursor:
            cursor.execute(query)
            return str(cursor.fetchone()[0])
    except raw.Error as error:
        if error.sqlstate not in UNTOLD:
            raise
        return ""
    finally:
        raw.rollback()
