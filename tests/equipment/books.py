"""What stands in a database that nobody may be serving, compared with what was promised."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine

from equipment.busy_agent import Ledger
from mufakat.storage import check, connect

Seen = tuple[int, str, str, str]
"""Revision, kind, subject and data of an event."""


@dataclass(frozen=True, slots=True)
class Books:
    """A database, read as it is."""

    connection: Connection

    def rows(self, query: str) -> Sequence[Any]:
        return self.connection.exec_driver_sql(query).fetchall()

    def events(self, *kinds: str) -> list[Seen]:
        """The log, or what of it is of some kinds."""
        found = self.rows("SELECT revision, kind, subject, data FROM events ORDER BY revision")
        return [
            (row[0], row[1], row[2], same(json.loads(row[3])))
            for row in found
            if not kinds or row[1] in kinds
        ]

    def problems(self, *, deep: bool = False) -> list[str]:
        """What `mufakat check` would say."""
        return list(check.health(self.connection, deep=deep).problems)


def same(data: Any) -> str:
    """One spelling of an event's data."""
    return json.dumps(data, sort_keys=True)


@contextmanager
def opened(place: Path | str) -> Iterator[Books]:
    """The books of a SQLite file, or of a PostgreSQL by its address."""
    if isinstance(place, Path):
        engine = connect.single(place, query="mode=ro")
    else:
        engine = create_engine(place.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            yield Books(connection)
    finally:
        engine.dispose()


def broken(books: Books, ledger: Ledger) -> list[str]:
    """The check itself: every promise that the books do not keep."""
    return [
        *(f"check: {problem}" for problem in books.problems()),
        *_messages(books, ledger),
        *_acknowledgements(books, ledger),
        *_grants(books, ledger),
        *_ends(books, ledger),
        *_states(books, ledger),
    ]


def _messages(books: Books, ledger: Ledger) -> Iterator[str]:
    said = books.rows("SELECT id, text FROM messages")
    texts, ids = Counter(row[1] for row in said), dict(tuple(row) for row in said)
    rows = books.rows("SELECT recipient, message FROM deliveries")
    delivered = Counter((row[0], row[1]) for row in rows)
    yield from (f"twice: {text}" for text in ledger.tried if texts[text] > 1)
    for text, (id, recipients) in ledger.sent.items():
        if ids.get(id) != text:
            yield f"lost message: {text}"
        for recipient in recipients:
            if delivered[recipient, id] != 1:
                yield f"{delivered[recipient, id]} deliveries of {text} to {recipient}"


def _acknowledgements(books: Books, ledger: Ledger) -> Iterator[str]:
    rows = books.rows("SELECT recipient, number, status FROM deliveries")
    status = {(row[0], row[1]): row[2] for row in rows}
    for one in ledger.acked:
        if status.get(one) != "acked":
            yield f"lost acknowledgement: {one} is {status.get(one)}"


def _grants(books: Books, ledger: Ledger) -> Iterator[str]:
    newest = {row[0]: row[1] for row in books.rows("SELECT resource, fence FROM resources")}
    parts = books.rows("SELECT lease, resource, fence FROM lease_resources")
    fences = {(row[0], row[1]): row[2] for row in parts}
    announced = Counter(subject for _, _, subject, _ in books.events("lease.granted"))
    given = Counter((resource, fence) for _, resource, fence in ledger.granted)
    yield from (f"a fence twice: {one}" for one, count in given.items() if count > 1)
    for id, resource, fence in ledger.granted:
        if announced[id] != 1 or fences.get((id, resource)) != fence:
            yield f"lost grant: {id} of {resource}"
        if newest.get(resource, 0) < fence:
            yield f"a fence went back: {resource}"


def _ends(books: Books, ledger: Ledger) -> Iterator[str]:
    ended = {row[0]: row[1] for row in books.rows("SELECT id, ended FROM leases")}
    yield from (f"lost release: {id}" for id in ledger.released if ended.get(id) is None)
    yield from (f"lost lease: {id}" for id in ledger.held if ended.get(id) is not None)


def _states(books: Books, ledger: Ledger) -> Iterator[str]:
    rows = books.rows("SELECT identity, ordinal FROM instances")
    ordinals = {row[0]: row[1] for row in rows}
    for name, number in ledger.reported.items():
        if ordinals.get(name, 0) < number:
            yield f"lost report: {name} is at {ordinals.get(name)}, not {number}"
    told = Counter(
        (subject, json.loads(data)["ordinal"])
        for _, _, subject, data in books.events("agent.state")
    )
    for one in ledger.reports:
        if told[one] != 1:
            yield f"{told[one]} events of the report {one}"
