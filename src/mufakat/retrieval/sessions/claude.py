"""Sessions of Claude Code: `projects/FOLDER/ID.jsonl`, one record a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mufakat.core.knowledge import native_session
from mufakat.core.knowledge.native_session import Line
from mufakat.ports.knowledge import Skip
from mufakat.retrieval.sessions import files, found
from mufakat.retrieval.sessions.files import Unreadable
from mufakat.retrieval.sessions.found import Head

SHORTENED = 180
"""Characters beyond which the name of a folder may be cut."""
_BESIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")


class Claude:
    """Session files below one configuration folder."""

    engine = "claude"

    def __init__(self, home: Path) -> None:
        self._projects = home / "projects"

    def heads(self, root: Path, skips: list[Skip]) -> Iterator[Head]:
        """The sessions of a project, newest first."""
        name = re.sub(r"[^A-Za-z0-9]", "-", str(root))
        prefix = name if len(name) <= SHORTENED else name[:SHORTENED]
        for file in files.newest(self._projects, "*/*.jsonl"):
            if file.path.parent.name[: len(prefix)] != prefix:
                continue
            try:
                head = _head(file)
            except Unreadable as problem:
                skips.append(Skip(str(file.path), str(problem)))
                continue
            if head is not None and files.inside(head.folder, root):
                yield head

    def lines(self, head: Head) -> Iterator[Line]:
        """What was said."""
        return _lines(files.records(head.path))


def _head(file: files.Found) -> Head | None:
    records = list(files.records(file.path, limit=files.HEAD))
    folder = next((text for one in records if (text := native_session.text_of(one, "cwd"))), "")
    if not folder:
        raise Unreadable("no record says in which folder it ran")
    return Head(file.path.stem, folder, file.path, file.mtime, found.summary(_lines(records)))


def _lines(records: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]]) -> Iterator[Line]:
    for record in records:
        kind = record.get("type")
        if kind not in ("user", "assistant") or any(record.get(one) is True for one in _BESIDE):
            continue
        words = native_session.texts(native_session.part(record, "message").get("content"))
        if words:
            speaker = native_session.PERSON if kind == "user" else Claude.engine
            at = files.millis(record.get("timestamp"))
            yield Line(speaker, words, at, native_session.text_of(record, "uuid"))
