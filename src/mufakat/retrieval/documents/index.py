"""The index over sections of documents: a file that may be deleted at any time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.knowledge import words
from mufakat.core.knowledge.document import Document

VERSION = 2
WEIGHTS = (2.0, 0.5, 0.5, 1.0, 1.0)
"""Of name, description, heading, body and pairs of signs.

Fitted by bench/documents on half of its questions.
"""
DEEP = 120
"""Sections that are looked at for a question."""
MOST_TERMS = 32
_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL,
    description TEXT NOT NULL, stamp TEXT NOT NULL, UNIQUE (name, source)
) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS sections USING fts5(
    name, description, heading, body, pairs,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
"""
_PLACES = 16
"""Bits of a row's number that count the sections of one document."""
_WORD = re.compile(r"\w+")
_SIGNS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Match:
    """The best section of a document for a question."""

    name: str
    source: str
    description: str
    heading: str
    text: str
    score: float
    """0 to 1, beside the best."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it lies in the index."""

    name: str
    source: str
    description: str
    sections: tuple[tuple[str, str], ...]
    """Heading and text, in their order."""


class Index:
    """One project's documents; every use opens the file anew."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def stamps(self) -> Mapping[tuple[str, str], str]:
        """What is in it, by source and name."""
        with closing(self._open()) as connection:
            rows = connection.execute("SELECT source, name, stamp FROM documents")
            return {(source, name): stamp for source, name, stamp in rows}

    def put(self, found: Document, stamp: str) -> None:
        """Store a document in the place of what was known of it."""
        with closing(self._open()) as connection, connection:
            _drop(connection, [(found.source, found.name)])
            id = connection.execute(
                "INSERT INTO documents (name, source, description, stamp) VALUES (?, ?, ?, ?)",
                (found.name, found.source, found.description, stamp),
            ).lastrowid
            first = (id or 0) << _PLACES
            connection.executemany(
                "INSERT INTO sections (rowid, name, description, heading, body, pairs) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        first + place,
                        found.name,
                        found.description,
                        _split(one.heading),
                        one.text,
                        " ".join(_pairs(f"{one.heading} {one.text}")),
                    )
                    for place, one in enumerate(found.sections)
                ],
            )

    def drop(self, gone: Iterable[tuple[str, str]]) -> None:
        """Forget documents, by source and name."""
        with closing(self._open()) as connection, connection:
            _drop(connection, gone)

    def search(self, query: str, *, limit: int) -> Sequence[Match]:
        """The documents that answer a question best, each with its best section."""
        wanted = expression(query)
        if not wanted:
            return []
        with closing(self._open()) as connection:
            return rank(connection, wanted, limit=limit)

    def get(self, name: str) -> Stored | None:
        """A document by its name; where sources share one, the nearest to the project."""
        with closing(self._open()) as connection:
            found = connection.execute(
                "SELECT id, source, description FROM documents WHERE name = ? "
                "ORDER BY source = 'project' DESC, source = 'hub' DESC LIMIT 1",
                (name,),
            ).fetchone()
            if found is None:
                return None
            rows = connection.execute(
                "SELECT heading, body FROM sections WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
                _range(found[0]),
            ).fetchall()
        return Stored(name, found[1], found[2], tuple((_whole(one), text) for one, text in rows))

    def names(self) -> list[str]:
        """Names of all documents."""
        with closing(self._open()) as connection:
            rows = connection.execute("SELECT DISTINCT name FROM documents ORDER BY name")
            return [name for (name,) in rows]

    def _open(self) -> sqlite3.Connection:
        try:
            return self._opened()
        except sqlite3.DatabaseError:
            # It is derived: what cannot be read is made again.
            self._path.unlink(missing_ok=True)
            return self._opened()

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=10)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                raise sqlite3.DatabaseError(f"version {version}")
            if version == 0:
                self._path.chmod(0o600)
                connection.executescript(
                    f"PRAGMA journal_mode = WAL; {_SCHEMA} PRAGMA user_version = {VERSION};"
                )
            connection.execute("PRAGMA synchronous = OFF")
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection


def _drop(connection: sqlite3.Connection, gone: Iterable[tuple[str, str]]) -> None:
    for source, name in gone:
        known = connection.execute(
            "SELECT id FROM documents WHERE source = ? AND name = ?", (source, name)
        ).fetchone()
        if known is not None:
            connection.execute("DELETE FROM sections WHERE rowid BETWEEN ? AND ?", _range(known[0]))
            connection.execute("DELETE FROM documents WHERE id = ?", known)


def _range(id: int) -> tuple[int, int]:
    """The rows of a document's sections."""
    return id << _PLACES, ((id + 1) << _PLACES) - 1


def expression(query: str) -> str:
    """A question as what FTS5 reads: its words in quotes, any of them; names in parts too."""
    terms: dict[str, None] = {}
    for word in _WORD.findall(query[:10_000]):
        parts = _PART.findall(word)
        for term in _pairs(word) or [word, *(parts if len(parts) > 1 else [])]:
            low = term.lower()
            if low not in words.STOP and (len(low) > 1 or not low.isalpha() or low > "\u2fff"):
                terms[low] = None
    return " OR ".join(f'"{term}"' for term in list(terms)[:MOST_TERMS])


def _pairs(text: str) -> list[str]:
    """Signs of languages that are written without spaces, two by two."""
    found = (run[0] for run in _SIGNS.finditer(text))
    return [run[at : at + 2] for run in found for at in range(max(1, len(run) - 1))]


_JOINT = "\u2063"
"""Stands between a heading and its parts, which only help to find it."""


def _split(heading: str) -> str:
    parts = [part for part in _PART.findall(heading) if len(part) > 1]
    return f"{heading}{_JOINT}{' '.join(parts)}"


def _whole(heading: str) -> str:
    return heading.partition(_JOINT)[0]


def rank(
    connection: sqlite3.Connection,
    wanted: str,
    *,
    limit: int,
    weights: Sequence[float] = WEIGHTS,
) -> list[Match]:
    """The best documents for an FTS5 expression; the weights are an argument to be measured."""
    rows = connection.execute(
        "SELECT d.name, d.source, d.description, heading, body, "
        f"-bm25(sections, {', '.join(str(float(one)) for one in weights)}) AS score "
        "FROM sections JOIN documents d ON d.id = sections.rowid >> ? "
        "WHERE sections MATCH ? ORDER BY score DESC, sections.rowid LIMIT ?",
        (_PLACES, wanted, DEEP),
    ).fetchall()
    return _best(rows, limit)


def _best(rows: Sequence[tuple[str, str, str, str, str, float]], limit: int) -> list[Match]:
    """One match a document, its best section; that others fit too says nothing, as measured."""
    found: dict[tuple[str, str], Match] = {}
    for name, source, description, heading, body, score in rows:
        if (source, name) not in found and len(found) < limit:
            worth = score / rows[0][5]
            match = Match(name, source, description, _whole(heading), body, worth)
            found[source, name] = match
    return list(found.values())
