"""Whether a database is sound: SQLite's own checks, our invariants, and every row's digest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select
from sqlalchemy.exc import DBAPIError

from mufakat.core import base
from mufakat.ports.store import Health
from mufakat.storage import errors, events, messages, packs
from mufakat.storage.scope import Record

BATCH = 500
INVARIANTS: tuple[tuple[str, str], ...] = (
    ("the head row is missing or not alone", "SELECT 1 WHERE (SELECT count(*) FROM head) != 1"),
    (
        "the log's head does not match its newest event",
        "SELECT 1 FROM head WHERE revision != (SELECT coalesce(max(revision), 0) FROM events)",
    ),
    (
        "the log has gaps",
        "SELECT 1 FROM (SELECT count(*) AS n, min(revision) AS low, max(revision) AS high "
        "FROM events) AS log WHERE n != high - low + 1",
    ),
    (
        "a conversation's message counter is wrong",
        "SELECT 1 FROM conversations c WHERE messages != "
        "(SELECT count(*) FROM messages m WHERE m.conversation = c.id) OR messages != "
        "(SELECT coalesce(max(number), 0) FROM messages m WHERE m.conversation = c.id)",
    ),
    (
        "a conversation's talk counter is wrong",
        "SELECT 1 FROM conversations c WHERE talk != (SELECT count(*) FROM messages m "
        "WHERE m.conversation = c.id AND m.kind IN ('person', 'agent'))",
    ),
    (
        "a conversation's character counter is wrong",
        "SELECT 1 FROM conversations c WHERE chars != "
        "(SELECT coalesce(sum(chars), 0) FROM messages m WHERE m.conversation = c.id)",
    ),
    (
        "a speaker's last message is not there",
        "SELECT 1 FROM speakers s LEFT JOIN messages m ON m.conversation = s.conversation "
        "AND m.number = s.number AND m.speaker = s.speaker WHERE m.id IS NULL",
    ),
    (
        "the clock's mark is behind the newest event",
        "SELECT 1 FROM head WHERE hwm < (SELECT coalesce(max(at), 0) FROM events)",
    ),
)


@dataclass(frozen=True, slots=True)
class Scan:
    """How every row of a table is read and compared with its digest."""

    what: str
    rows: Select[*tuple[Any, ...]]
    key: str
    first: str | int
    load: Callable[[Record], object]


SCANS = (
    Scan("messages", messages.SCAN, "id", "", messages.load),
    Scan("events", events.SCAN, "revision", 0, events.load),
    Scan("packs", packs.SCAN, "id", "", packs.load),
    Scan("texts", packs.SCAN_TEXTS, "digest", "", lambda row: packs.load_text(row[0], row[1])),
)


def health(connection: Connection, *, deep: bool) -> Health:
    """Check a database in the connection's snapshot; damage is an answer, not an error."""
    problems = list(_guarded("pages", lambda: pages(connection, deep=deep)))
    problems += _guarded("foreign keys", lambda: foreign_keys(connection))
    problems += _guarded("records", lambda: invariants(connection))
    if deep:
        for scan in SCANS:
            problems += _guarded(scan.what, partial(digests, connection, scan))
    facts = [(scan.what, str(_count(connection, scan.what))) for scan in SCANS]
    return Health(tuple(problems), tuple(facts))


def pages(connection: Connection, *, deep: bool) -> list[str]:
    """What SQLite itself finds: `deep` also compares every index with its table."""
    check = "integrity_check" if deep else "quick_check"
    rows = connection.exec_driver_sql(f"PRAGMA {check}(20)").all()
    return [f"SQLite: {row[0]}" for row in rows if row[0] != "ok"]


def foreign_keys(connection: Connection) -> list[str]:
    """Rows that belong to something that is not there."""
    rows = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    return [f"a row of {row[0]} belongs to a missing row of {row[2]}" for row in rows[:20]]


def invariants(connection: Connection) -> list[str]:
    """What our own records must agree on."""
    return [problem for problem, query in INVARIANTS if connection.exec_driver_sql(query).first()]


def digests(connection: Connection, scan: Scan) -> list[str]:
    """Rows whose content no longer matches their digest."""
    problems: list[str] = []
    after = scan.first
    while True:
        rows = connection.execute(scan.rows.limit(BATCH), {"after": after}).all()
        for row in rows:
            after = row._mapping[scan.key]
            problems += _guarded(f"{scan.what} {after}", partial(scan.load, row))
        if len(rows) < BATCH:
            return problems


def _guarded(what: str, find: Callable[[], object]) -> list[str]:
    try:
        found = find()
    except (DBAPIError, base.StoreError, ValueError, TypeError, KeyError) as error:
        reason = errors.translate(error) if isinstance(error, DBAPIError) else error
        return [f"{what}: {reason}"]
    return list(found) if isinstance(found, list) else []


def _count(connection: Connection, table: str) -> int | str:
    try:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())
    except DBAPIError:
        return "unknown"
