"""Sessions of Gemini CLI: `tmp/PROJECT/chats/session-*`, JSON of one record or one a line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mufakat.core.knowledge import native_session
from mufakat.core.knowledge.native_session import Line
from mufakat.ports.knowledge import Skip
from mufakat.retrieval.sessions import files, found
from mufakat.retrieval.sessions.files import Unreadable
from mufakat.retrieval.sessions.found import Head

_TYPES = {"user": native_session.PERSON, "gemini": "gemini"}
_ROOT_BYTES = 8_192


class Gemini:
    """Session files below one `.gemini` folder."""

    engine = "gemini"

    def __init__(self, home: Path) -> None:
        self._home = home

    def heads(self, root: Path, skips: list[Skip]) -> Iterator[Head]:
        """The sessions of a project, newest first."""
        own = hashlib.sha256(str(root).encode("utf-8", "surrogatepass")).hexdigest()
        for file in files.newest(
            self._home, "tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"
        ):
            try:
                records = list(_records(file.path, limit=files.HEAD))
                head = _head(file, records, root, own)
            except Unreadable as problem:
                skips.append(Skip(str(file.path), str(problem)))
                continue
            if head is not None:
                yield head

    def lines(self, head: Head) -> Iterator[Line]:
        """What was said."""
        return _lines(_records(head.path, limit=files.LARGEST))


def _records(path: Path, *, limit: int) -> Iterator[Mapping[str, Any]]:
    if path.suffix == ".json":
        yield files.whole(path)
    else:
        yield from files.records(path, limit=limit)


def _head(file: files.Found, records: list[Mapping[str, Any]], root: Path, own: str) -> Head | None:
    about = next((one for one in records if native_session.text_of(one, "sessionId")), None)
    if about is None:
        raise Unreadable("no record names the session")
    folder = _folder(file.path.parent.parent)
    if about.get("projectHash") == own:
        folder = str(root)
    if not files.inside(folder, root):
        return None
    id = native_session.text_of(about, "sessionId")
    return Head(id, folder, file.path, file.mtime, found.summary(_lines(records)))


def _folder(place: Path) -> str:
    """The project's folder, as the CLI noted it beside the chats."""
    try:
        noted = b"".join(files.lines(place / ".project_root", limit=_ROOT_BYTES))
    except Unreadable:
        return ""
    return noted.decode("utf-8", "replace").strip()


def _lines(records: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    for record in records:
        for one in (record, *_messages(record), *_messages(native_session.part(record, "$set"))):
            speaker = _TYPES.get(str(one.get("type")))
            words = native_session.texts(one.get("content"))
            if speaker and words:
                at = files.millis(one.get("timestamp"))
                yield Line(speaker, words, at, native_session.text_of(one, "id"))


def _messages(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = record.get("messages")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
