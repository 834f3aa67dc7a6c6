"""Whether a database is sound: its own checks, our invariants, and every row's digest."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, ForeignKeyConstraint, Select, Table, select
from sqlalchemy.exc import DBAPIError

from mufakat.core import base
from mufakat.core.audit import Chain
from mufakat.ports.store import Health
from mufakat.storage import (
    branch_check,
    branches,
    coordination_check,
    decisions,
    envelopes,
    errors,
    events,
    messages,
    notes,
    packs,
    recall_check,
    tables,
    topics,
    vector_check,
)

BATCH = 500
INVARIANTS: tuple[tuple[str, str], ...] = (
    ("the head row is missing or not alone", "SELECT 1 WHERE (SELECT count(*) FROM head) != 1"),
    (
        "the log's head does not match its newest event",
        "SELECT 1 FROM head WHERE revision != (SELECT coalesce(max(revision), 0) FROM events)",
    ),
    (
        "the log does not come to what its head says",
        "SELECT 1 FROM head WHERE chain != coalesce((SELECT e.chain FROM events e "
        "WHERE e.revision = head.revision), '')",
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
    *branch_check.INVARIANTS,
    *coordination_check.INVARIANTS,
    *recall_check.INVARIANTS,
    *vector_check.INVARIANTS,
)


@dataclass(frozen=True, slots=True)
class Scan:
    """How every row of a table is read and compared with its digest."""

    what: str
    rows: Select[*tuple[Any, ...]]
    key: str
    first: str | int
    load: Callable[[Any], object]


SCANS = (
    Scan("messages", messages.SCAN, "id", "", messages.load),
    Scan("events", events.SCAN, "revision", 0, events.load),
    Scan("packs", packs.SCAN, "id", "", packs.load),
    Scan("envelopes", envelopes.SCAN, "message", "", envelopes.load),
    Scan("topics", topics.SCAN_TOPICS, "key", "", lambda row: topics.load(row[1:])),
    Scan("topic_lines", topics.SCAN_LINES, "key", "", lambda row: topics.load_line(row[1:])),
    Scan("notes", notes.SCAN, "id", "", notes.load),
    Scan("decisions", decisions.SCAN, "key", "", lambda row: decisions.load(row[1:])),
    Scan("branches", branches.SCAN, "conversation", "", branches.load),
    Scan("texts", packs.SCAN_TEXTS, "digest", "", lambda row: packs.load_text(row[0], row[1])),
)


def health(connection: Connection, *, deep: bool) -> Health:
    """Check a database in the connection's snapshot; damage is an answer, not an error."""
    problems = list(_guarded(connection, "pages", lambda: pages(connection, deep=deep)))
    problems += _guarded(connection, "foreign keys", lambda: foreign_keys(connection))
    problems += _guarded(connection, "records", lambda: invariants(connection))
    if deep:
        for scan in SCANS:
            problems += _guarded(connection, scan.what, partial(digests, connection, scan))
        problems += _guarded(connection, "the chain", partial(links, connection))
        problems += _guarded(connection, "the index", partial(recall_check.terms, connection))
    facts = [(scan.what, str(_count(connection, scan.what))) for scan in SCANS]
    return Health(tuple(problems), tuple(facts))


def pages(connection: Connection, *, deep: bool) -> list[str]:
    """What SQLite itself finds: `deep` also compares every index with its table.

    PostgreSQL verifies a page's checksum whenever it reads one.
    """
    if connection.dialect.name != "sqlite":
        return []
    check = "integrity_check" if deep else "quick_check"
    rows = connection.exec_driver_sql(f"PRAGMA {check}(20)").all()
    return [f"SQLite: {row[0]}" for row in rows if row[0] != "ok"]


def foreign_keys(connection: Connection) -> list[str]:
    """Rows that belong to something that is not there."""
    if connection.dialect.name != "sqlite":
        return _orphans(connection)
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
            problems += _guarded(None, f"{scan.what} {after}", partial(scan.load, row))
        if len(rows) < BATCH:
            return problems


def links(connection: Connection) -> list[str]:
    """Events that do not continue what stands before them."""
    chain, problems = Chain(), list[str]()
    while True:
        params = {"after": chain.at.revision, "limit": BATCH}
        rows = connection.execute(events.SEALED, params).all()
        problems += chain.follow([events.sealed(row) for row in rows])
        if len(rows) < BATCH or len(problems) >= BATCH:
            return problems[:BATCH]


def _orphans(connection: Connection) -> list[str]:
    return [
        f"a row of {table.name} belongs to a missing row of {key.referred_table.name}"
        for table in tables.metadata.sorted_tables
        for key in table.foreign_key_constraints
        if connection.execute(_without_parent(table, key)).first()
    ]


def _without_parent(table: Table, key: ForeignKeyConstraint) -> Select[*tuple[Any, ...]]:
    parent = key.referred_table.alias("parent")
    pairs = [(one.parent, parent.c[one.column.name]) for one in key.elements]
    there = select(parent).where(*(theirs == ours for ours, theirs in pairs)).exists()
    known = [ours.is_not(None) for ours, _ in pairs]
    return select(table).where(*known, ~there).limit(1)


def _guarded(connection: Connection | None, what: str, find: Callable[[], object]) -> list[str]:
    try:
        with _savepoint(connection):
            found = find()
    except (DBAPIError, base.StoreError, ValueError, TypeError, KeyError) as error:
        reason = errors.translate(error) if isinstance(error, DBAPIError) else error
        return [f"{what}: {reason}"]
    return list(found) if isinstance(found, list) else []


def _savepoint(connection: Connection | None) -> AbstractContextManager[object]:
    """What PostgreSQL needs to go on after a query that failed."""
    if connection is None or connection.dialect.name == "sqlite":
        return nullcontext()
    return connection.begin_nested()


def _count(connection: Connection, table: str) -> int | str:
    try:
        with _savepoint(connection):
            return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())
    except DBAPIError:
        return "unknown"
