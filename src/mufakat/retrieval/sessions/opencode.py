"""Sessions of OpenCode: its database, and before that one JSON file a record."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mufakat.core.knowledge import native_session
from mufakat.core.knowledge.native_session import Line
from mufakat.ports.knowledge import Skip
from mufakat.retrieval.sessions import files, found
from mufakat.retrieval.sessions.files import Unreadable
from mufakat.retrieval.sessions.found import MOST_TURNS, Head

DATABASE = "opencode.db"
STORAGE = "storage"
_ROLES = {"user": native_session.PERSON, "assistant": "opencode"}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SESSIONS = (
    "SELECT id, directory, title, time_updated FROM session WHERE parent_id IS NULL "
    "ORDER BY time_updated DESC LIMIT ?"
)
_PARTS = (
    "SELECT m.id, m.data, m.time_created, p.data FROM message m JOIN part p ON p.message_id = m.id "
    "WHERE m.session_id = ? AND length(p.data) < ? AND length(m.data) < ? "
    "ORDER BY m.time_created, m.id, p.id LIMIT ?"
)


class OpenCode:
    """Sessions below one data folder."""

    engine = "opencode"

    def __init__(self, home: Path) -> None:
        self._home = home

    def heads(self, root: Path, skips: list[Skip]) -> Iterator[Head]:
        """The sessions of a project, newest first; the database's, then those of files."""
        path = self._home / DATABASE
        try:
            yield from _database_heads(path, root)
        except sqlite3.Error as problem:
            skips.append(Skip(str(path), f"its database cannot be read: {problem}"[:200]))
        yield from _file_heads(self._home / STORAGE, root, skips)

    def lines(self, head: Head) -> Iterable[Line]:
        """What was said."""
        if head.path.name != DATABASE:
            return _from_files(self._home / STORAGE, head.id)
        try:
            return list(_from_database(head.path, head.id))
        except sqlite3.Error as problem:
            raise Unreadable(f"its database cannot be read: {problem}"[:200]) from problem


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=2)


def _database_heads(path: Path, root: Path) -> Iterator[Head]:
    if path.is_symlink() or not path.is_file():
        return
    with closing(_open(path)) as connection:
        rows = connection.execute(_SESSIONS, (files.MOST,)).fetchall()
    for id, folder, title, at in rows:
        if files.inside(str(folder), root):
            yield Head(str(id), str(folder), path, files.millis(at), _title(title))


def _from_database(path: Path, id: str) -> Iterator[Line]:
    with closing(_open(path)) as connection:
        limits = (files.LONGEST_LINE, files.LONGEST_LINE, MOST_TURNS * 20)
        for message, about, at, part in connection.execute(_PARTS, (id, *limits)):
            yield from _line(str(message), files.parsed(about), files.millis(at), part)


def _line(message: str, about: object, at: int, part: bytes | str) -> Iterator[Line]:
    """The text of one part of a message; each part is a line of its own."""
    told = files.parsed(part)
    if not isinstance(about, dict) or not isinstance(told, dict):
        return
    speaker = _ROLES.get(str(about.get("role")))
    words = native_session.text_of(told, "text")
    beside = told.get("synthetic") is True or told.get("ignored") is True
    if speaker and words and told.get("type") == "text" and not beside:
        yield Line(speaker, words, at, "")


def _file_heads(storage: Path, root: Path, skips: list[Skip]) -> Iterator[Head]:
    for file in files.newest(storage, "session/*/*.json"):
        try:
            about = files.whole(file.path)
        except Unreadable as problem:
            skips.append(Skip(str(file.path), str(problem)))
            continue
        id, folder = file.path.stem, native_session.text_of(about, "directory")
        if _ID.fullmatch(id) and not about.get("parentID") and files.inside(folder, root):
            yield Head(
                id, folder, file.path, _updated(about) or file.mtime, _title(about.get("title"))
            )


def _from_files(storage: Path, id: str) -> Iterator[Line]:
    messages = sorted(files.newest(storage / "message", f"{id}/*.json"), key=lambda one: one.path)
    for message in messages:
        about = _lenient(message.path)
        time = about.get("time")
        created = files.millis(time.get("created")) if isinstance(time, dict) else 0
        parts = files.newest(storage / "part", f"{message.path.stem}/*.json")
        for part in sorted(parts, key=lambda one: one.path):
            data = b"".join(files.lines(part.path, limit=files.LONGEST_LINE))
            yield from _line(message.path.stem, about, created, data)


def _lenient(path: Path) -> Mapping[str, Any]:
    try:
        return files.whole(path)
    except Unreadable:
        return {}


def _updated(about: Mapping[str, Any]) -> int:
    return files.millis(native_session.part(about, "time").get("updated"))


def _title(title: object) -> str:
    return " ".join(str(title or "").split())[: found.SUMMARY_CHARS]
