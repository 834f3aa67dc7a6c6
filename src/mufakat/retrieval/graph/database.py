"""The graph's own file: outlines of files and the commits that changed them; may be deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mufakat.core.knowledge import blast, imports, source_name
from mufakat.core.knowledge.blast import Evidence, Link, Pair
from mufakat.core.knowledge.outline import Outline
from mufakat.ports.knowledge import Node
from mufakat.retrieval.graph.history import Commit

FORMAT = 1
MOST_DEFINERS = 12
"""A name that more files define says nothing about any of them."""
TABLES = """
CREATE TABLE known(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, mark TEXT NOT NULL);
CREATE INDEX files_by_subject ON files(subject);
CREATE TABLE definitions(file INTEGER NOT NULL, name TEXT NOT NULL, scope TEXT NOT NULL,
    line INTEGER NOT NULL);
CREATE INDEX definitions_by_name ON definitions(name, file);
CREATE INDEX definitions_by_file ON definitions(file);
CREATE TABLE uses(file INTEGER NOT NULL, name TEXT NOT NULL, scope TEXT NOT NULL,
    line INTEGER NOT NULL, PRIMARY KEY(file, name, scope)) WITHOUT ROWID;
CREATE INDEX uses_by_name ON uses(name, file);
CREATE TABLE imports(file INTEGER NOT NULL, module TEXT NOT NULL, tail TEXT NOT NULL,
    line INTEGER NOT NULL);
CREATE INDEX imports_by_tail ON imports(tail);
CREATE INDEX imports_by_file ON imports(file);
CREATE TABLE commits(number INTEGER PRIMARY KEY, files INTEGER NOT NULL);
CREATE TABLE changes(file INTEGER NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY(file, number)) WITHOUT ROWID;
CREATE INDEX changes_by_commit ON changes(number);
"""

_SPREAD = (
    "(SELECT count(DISTINCT file) FROM definitions WHERE name = {0}.name) AS definers,"
    " (SELECT count(DISTINCT file) FROM uses WHERE name = {0}.name) AS users"
)
_USED = (
    "SELECT n.name, f.path, n.definers, n.users"
    f" FROM (SELECT DISTINCT name, {_SPREAD.format('u')} FROM uses u WHERE file = ?1) n"
    " JOIN (SELECT DISTINCT name, file FROM definitions) d ON d.name = n.name"
    " JOIN files f ON f.id = d.file"
    " WHERE d.file <> ?1 AND n.definers <= ?2 ORDER BY n.name, f.path"
)
"""What a file uses and another one defines."""
_USERS = (
    "SELECT n.name, f.path, n.definers, n.users"
    f" FROM (SELECT DISTINCT name, {_SPREAD.format('d')} FROM definitions d WHERE file = ?1) n"
    " JOIN (SELECT DISTINCT name, file FROM uses) u ON u.name = n.name"
    " JOIN files f ON f.id = u.file"
    " WHERE u.file <> ?1 AND n.definers <= ?2 ORDER BY n.name, f.path"
)
"""What a file defines and another one uses."""


class Database:
    """One project's graph; used by one thread at a time."""

    def __init__(self, path: Path | None) -> None:
        """Open a file, or a graph in memory; raises sqlite3.Error for what is none."""
        self._db = sqlite3.connect(
            path or ":memory:", isolation_level=None, check_same_thread=False, timeout=10
        )
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=OFF")
        if self._version() != FORMAT:
            self._make()

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _make(self) -> None:
        for (name,) in self._db.execute(
            "SELECT name FROM sqlite_master WHERE type='table'"
        ).fetchall():
            self._db.execute(f'DROP TABLE "{name}"')
        self._db.executescript(TABLES)
        self._db.execute(f"PRAGMA user_version={FORMAT}")

    def close(self) -> None:
        self._db.close()

    def begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        self._db.execute("ROLLBACK")

    def known(self, name: str) -> str:
        """A remembered word; empty where there is none."""
        found = self._db.execute("SELECT value FROM known WHERE name=?", (name,)).fetchone()
        return str(found[0]) if found else ""

    def remember(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO known VALUES (?, ?)", (name, value))

    def marks(self) -> dict[str, str]:
        """Files that are there now, each with the mark it was read at."""
        return dict(self._db.execute("SELECT path, mark FROM files WHERE mark <> ''"))

    def put(self, path: str, mark: str, outline: Outline) -> None:
        """Replace what is known about a file's content."""
        file = self._file(path)
        self._clear(file)
        self._db.execute("UPDATE files SET mark=? WHERE id=?", (mark, file))
        self._db.executemany(
            "INSERT INTO definitions VALUES (?, ?, ?, ?)",
            ((file, one.name, one.scope, one.line) for one in outline.definitions),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?)",
            ((file, one.name, one.scope, one.line) for one in outline.uses),
        )
        self._db.executemany(
            "INSERT INTO imports VALUES (?, ?, ?, ?)",
            ((file, one.name, imports.tail(one.name).lower(), one.line) for one in outline.imports),
        )

    def drop(self, path: str) -> None:
        """A file is gone; its history stays, since it may come back."""
        file = self._file(path)
        self._clear(file)
        self._db.execute("UPDATE files SET mark='' WHERE id=?", (file,))

    def _clear(self, file: int) -> None:
        for table in ("definitions", "uses", "imports"):
            self._db.execute(f"DELETE FROM {table} WHERE file=?", (file,))

    def _file(self, path: str) -> int:
        found = self._db.execute("SELECT id FROM files WHERE path=?", (path,)).fetchone()
        if found:
            return int(found[0])
        made = self._db.execute(
            "INSERT INTO files(path, subject, mark) VALUES (?, ?, '')",
            (path, source_name.key(path).lower()),
        )
        return int(made.lastrowid or 0)

    def add(self, commits: Iterable[Commit]) -> None:
        """Add commits, oldest first; what falls out of the window is forgotten."""
        number = self._newest()
        for one in commits:
            number += 1
            for old, new in one.renamed:
                self._rename(old, new)
            files = [path for path in one.changed if source_name.language(path)]
            self._db.execute("INSERT INTO commits VALUES (?, ?)", (number, len(files)))
            if 1 < len(files) <= blast.LARGEST_COMMIT:
                rows = ((self._file(path), number) for path in files)
                self._db.executemany("INSERT OR IGNORE INTO changes VALUES (?, ?)", rows)
        for table in ("commits", "changes"):
            self._db.execute(f"DELETE FROM {table} WHERE number <= ?", (number - blast.WINDOW,))

    def forget_history(self) -> None:
        self._db.execute("DELETE FROM commits")
        self._db.execute("DELETE FROM changes")

    def _newest(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM commits").fetchone()[0])

    def _rename(self, old: str, new: str) -> None:
        """The history of a file goes with its name."""
        if not source_name.language(old) or not source_name.language(new):
            return
        before, after = self._file(old), self._file(new)
        self._db.execute("UPDATE OR IGNORE changes SET file=? WHERE file=?", (after, before))
        self._db.execute("DELETE FROM changes WHERE file=?", (before,))

    def evidence(self, paths: Sequence[str]) -> Evidence:
        """All that speaks for other files where these change."""
        ids = [
            int(row[0])
            for path in paths
            for row in self._rows("SELECT id FROM files WHERE path=?", path)
        ]
        return Evidence(
            changed=tuple(paths),
            candidates=tuple(self.marks()),
            pairs=tuple(pair for file in ids for pair in self._pairs(file)),
            links=tuple(link for file in ids for link in self._links(file)),
            imports=tuple(found for path in paths for found in self._imported(path)),
        )

    def _rows(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, given).fetchall()

    def _pairs(self, file: int) -> Iterator[Pair]:
        newest = self._newest()
        for path, files, number in self._db.execute(
            "SELECT f.path, c.files, c.number FROM changes m JOIN commits c ON c.number = m.number"
            " JOIN changes o ON o.number = m.number AND o.file <> m.file"
            " JOIN files f ON f.id = o.file WHERE m.file = ? ORDER BY c.number, f.path",
            (file,),
        ):
            yield Pair(path, files, newest - number)

    def _links(self, file: int) -> Iterator[Link]:
        """Names that this file uses and others define, and the other way round."""
        for sql in (_USED, _USERS):
            for name, path, definers, users in self._db.execute(sql, (file, MOST_DEFINERS)):
                yield Link(path, name, definers, users)

    def _imported(self, path: str) -> Iterator[str]:
        """Files that this one imports, and that import it."""
        for module, other in self._rows(
            "SELECT i.module, f.path FROM imports i JOIN files me ON me.id = i.file"
            " JOIN files f ON f.subject = i.tail WHERE me.path = ? AND f.mark <> ''"
            " ORDER BY f.path, i.module",
            path,
        ):
            if imports.fits(module, path, other):
                yield other
        yield from sorted({importer for importer, _, _ in self.importers(path)})

    def importers(self, path: str) -> list[tuple[str, int, str]]:
        """Files that import one: path, line, and what they wrote."""
        found = self._rows(
            "SELECT f.path, min(i.line), i.module FROM imports i JOIN files f ON f.id = i.file"
            " WHERE i.tail = ? GROUP BY f.path, i.module ORDER BY f.path, 2",
            source_name.key(path).lower(),
        )
        return [
            (importer, line, module)
            for importer, line, module in found
            if imports.fits(module, importer, path)
        ]

    def has(self, path: str) -> bool:
        """Whether a file is there now."""
        return bool(self._rows("SELECT 1 FROM files WHERE path = ? AND mark <> ''", path))

    def definitions(self, name: str, scope: str = "") -> list[Node]:
        """Where a name is defined; with a scope, inside of it."""
        found = self._rows(
            "SELECT f.path, d.line, d.scope, d.name FROM definitions d"
            " JOIN files f ON f.id = d.file WHERE d.name = ? ORDER BY f.path, d.line",
            name,
        )
        return [
            _node(path, line, f"{around}.{called}")
            for path, line, around, called in found
            if not scope or f".{around}".endswith(f".{scope}")
        ]

    def users(self, name: str) -> list[Node]:
        """Where a name is used, once a scope."""
        found = self._rows(
            "SELECT f.path, u.line, u.scope FROM uses u JOIN files f ON f.id = u.file"
            " WHERE u.name = ? ORDER BY f.path, u.line",
            name,
        )
        return [_node(path, line, scope) for path, line, scope in found]

    def callees(self, name: str, scope: str = "") -> list[Node]:
        """Definitions of what is used inside the definitions of a name."""
        found = self._rows(
            "SELECT f.path, t.line, t.scope, t.name, d.scope FROM definitions d"
            " JOIN uses u ON u.file = d.file AND (u.scope = ltrim(d.scope || '.' || d.name, '.')"
            "  OR u.scope LIKE ltrim(d.scope || '.' || d.name, '.') || '.%')"
            " JOIN definitions t ON t.name = u.name JOIN files f ON f.id = t.file"
            " WHERE d.name = ? AND t.name <> d.name AND"
            " (SELECT count(DISTINCT file) FROM definitions WHERE name = t.name) <= ?"
            " ORDER BY f.path, t.line",
            name,
            MOST_DEFINERS,
        )
        return [
            _node(path, line, f"{around}.{called}")
            for path, line, around, called, outer in found
            if not scope or f".{outer}".endswith(f".{scope}")
        ]


def _node(path: str, line: int, symbol: str) -> Node:
    return Node(path, line, symbol.strip("."), "")
