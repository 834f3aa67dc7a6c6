"""An index on disk: one SQLite file a project, derived, thrown away where it is broken."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.knowledge.code_scores import COUNT_BITS
from mufakat.ports.knowledge import Skip
from mufakat.retrieval.code.reading import Mark

FORMAT = "1"
"""An index of another format is made anew."""
MOST_SKIPS = 500
BUSY_MS = 10_000
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    first INTEGER NOT NULL, lengths BLOB NOT NULL, pieces TEXT NOT NULL, skipped TEXT NOT NULL
) STRICT;
CREATE TABLE postings (
    term TEXT NOT NULL, segment INTEGER NOT NULL, packed BLOB NOT NULL,
    PRIMARY KEY (term, segment)
) STRICT, WITHOUT ROWID;
"""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Row:
    """A file as the index has it: its pieces are numbered from `first`."""

    path: str
    mark: Mark
    first: int
    lengths: Sequence[int]
    """Terms of every piece."""
    pieces: Sequence[tuple[int, int, str]]
    """Of every piece the first line from 0, the one behind its last, and its scope."""
    skipped: str = ""
    """Why nothing of it is indexed; it is known all the same, to be read again when it changes."""


class Store:
    """One open index."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute(f"PRAGMA busy_timeout={BUSY_MS}")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            if self._meta("format") != FORMAT:
                raise sqlite3.DatabaseError("another format")
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def generation(self) -> int:
        """A number that grows with every change."""
        return int(self._meta("generation") or 0)

    def complete(self) -> bool:
        """Whether all files were read once."""
        return self._meta("complete") == "1"

    def marks(self) -> dict[str, Mark]:
        """What the index knows of every file."""
        rows = self._db.execute("SELECT path, size, mtime_ns, inode FROM files")
        return {path: Mark(*mark) for path, *mark in rows}

    def marks_in(self, folder: str) -> dict[str, Mark]:
        """What it knows of the files of one folder itself."""
        top = f"{folder}/" if folder else ""
        rows = self._db.execute(
            "SELECT path, size, mtime_ns, inode FROM files WHERE path >= ? AND path < ? "
            "AND instr(substr(path, ?), '/') = 0",
            (top, f"{folder}0" if folder else "\U0010ffff", len(top) + 1),
        )
        return {path: Mark(*mark) for path, *mark in rows}

    def files(self) -> int:
        """How many files it has."""
        return int(self._db.execute("SELECT count(*) FROM files WHERE skipped = ''").fetchone()[0])

    def spans(self) -> Iterator[tuple[str, int, array[int]]]:
        """Path, first piece and the lengths of its pieces, file by file in order of paths."""
        for path, first, lengths in self._db.execute(
            "SELECT path, first, lengths FROM files ORDER BY path"
        ):
            yield path, first, array("I", lengths)

    def row(self, path: str) -> Row | None:
        """One file; None where it is gone."""
        found = self._db.execute(
            "SELECT size, mtime_ns, inode, first, lengths, pieces FROM files WHERE path = ?",
            (path,),
        ).fetchone()
        if found is None:
            return None
        size, mtime_ns, inode, first, lengths, pieces = found
        spans = [(start, end, symbol) for start, end, symbol in json.loads(pieces)]
        return Row(path, Mark(size, mtime_ns, inode), first, array("I", lengths), spans)

    def postings(self, terms: Sequence[str]) -> dict[str, array[int]]:
        """The postings of every term that has any."""
        marks = ",".join("?" * len(terms))
        found: dict[str, array[int]] = {}
        for term, packed in self._db.execute(
            f"SELECT term, packed FROM postings WHERE term IN ({marks}) ORDER BY term, segment",
            tuple(terms),
        ):
            found.setdefault(term, array("I")).frombytes(packed)
        return found

    def skipped(self) -> list[Skip]:
        """The files that were looked into and left out."""
        return [
            Skip(path, why)
            for path, why in self._db.execute(
                "SELECT path, skipped FROM files WHERE skipped <> '' ORDER BY path LIMIT ?",
                (MOST_SKIPS,),
            )
        ]

    def next_piece(self) -> int:
        """The number of the next piece; numbers are never used twice."""
        return int(self._meta("next_piece") or 0)

    def segments(self) -> int:
        """Into how many parts the postings were written since they were last joined."""
        return int(self._meta("segments") or 0)

    def remove(self, paths: Collection[str]) -> None:
        """Forget files; their postings stay until the next joining, and count no more."""
        if not paths:
            return
        with self._writing():
            self._db.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in paths])

    def add(
        self, rows: Sequence[Row], postings: Mapping[str, array[int]], *, next_piece: int
    ) -> None:
        """Put files in, in place of what was known of them, as a new segment."""
        with self._writing():
            segment = self.segments()
            self._db.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(_values, rows)
            )
            self._db.executemany(
                "INSERT INTO postings VALUES (?, ?, ?)",
                ((term, segment, postings[term].tobytes()) for term in sorted(postings)),
            )
            self._put("segments", segment + 1)
            self._put("next_piece", next_piece)

    def finish(self) -> None:
        """Note that all files were read."""
        if not self.complete():
            with self._writing():
                self._put("complete", 1)

    def join(self) -> None:
        """Write all segments as one, without what belongs to files that are gone."""
        with self._writing():
            alive = self._alive()
            self._db.execute("ALTER TABLE postings RENAME TO parts")
            self._db.execute(
                "CREATE TABLE postings (term TEXT NOT NULL, segment INTEGER NOT NULL, "
                "packed BLOB NOT NULL, PRIMARY KEY (term, segment)) STRICT, WITHOUT ROWID"
            )
            self._db.executemany("INSERT INTO postings VALUES (?, 0, ?)", self._joined(alive))
            self._db.execute("DROP TABLE parts")
            self._put("segments", 1)

    def _alive(self) -> bytearray:
        alive = bytearray(self.next_piece())
        for _, first, lengths in self.spans():
            alive[first : first + len(lengths)] = b"\1" * len(lengths)
        return alive

    def _joined(self, alive: bytearray) -> Iterator[tuple[str, bytes]]:
        term, gathered = "", array("I")
        with closing(self._db.cursor()) as rows:
            rows.execute("SELECT term, packed FROM parts ORDER BY term, segment")
            for next_term, packed in rows:
                if next_term != term:
                    if gathered:
                        yield term, gathered.tobytes()
                    term, gathered = next_term, array("I")
                part = array("I", packed)
                gathered.extend(one for one in part if alive[one >> COUNT_BITS])
        if gathered:
            yield term, gathered.tobytes()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._put("generation", self.generation() + 1)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _meta(self, key: str) -> str:
        found = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else ""

    def _put(self, key: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, str(value)))


def _values(row: Row) -> tuple[object, ...]:
    mark, pieces = row.mark, _JSON.encode(row.pieces)
    lengths = array("I", row.lengths).tobytes()
    return (row.path, mark.size, mark.mtime_ns, mark.inode, row.first, lengths, pieces, row.skipped)


def open_store(file: Path) -> Store:
    """Open an index, or begin one; a broken one, or of another format, is thrown away."""
    if file.exists():
        with suppress(sqlite3.DatabaseError):
            return Store(file)
        discard(file)
    begin(file)
    return Store(file)


def begin(file: Path) -> None:
    """Put an empty index in its place."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(f"BEGIN;{_SCHEMA}INSERT INTO meta VALUES ('format', '{FORMAT}');COMMIT;")


def discard(file: Path) -> None:
    """Throw an index away, with what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
