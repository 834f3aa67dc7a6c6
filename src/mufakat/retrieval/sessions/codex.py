"""Sessions of Codex: `sessions/YEAR/MONTH/DAY/rollout-*.jsonl`, one record a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mufakat.core.knowledge import native_session
from mufakat.core.knowledge.native_session import Line
from mufakat.ports.knowledge import Skip
from mufakat.retrieval.sessions import files, found
from mufakat.retrieval.sessions.files import Unreadable
from mufakat.retrieval.sessions.found import Head

_SAID = {"UserMessage": native_session.PERSON, "AgentMessage": "codex"}
_SAID_BEFORE = {"user_message": native_session.PERSON, "agent_message": "codex"}
_ROLES = {"user": native_session.PERSON, "assistant": "codex"}
_KINDS = ("text", "Text", "input_text", "output_text")


class Codex:
    """Session files below one configuration folder."""

    engine = "codex"

    def __init__(self, home: Path) -> None:
        self._home = home

    def heads(self, root: Path, skips: list[Skip]) -> Iterator[Head]:
        """The sessions of a project, newest first."""
        for file in files.newest(self._home, "sessions/*/*/*/rollout-*.jsonl"):
            try:
                head = _head(file)
            except Unreadable as problem:
                skips.append(Skip(str(file.path), str(problem)))
                continue
            if files.inside(head.folder, root):
                yield head

    def lines(self, head: Head) -> Iterable[Line]:
        """What was said."""
        return _lines(files.records(head.path))


def _head(file: files.Found) -> Head:
    records = list(files.records(file.path, limit=files.HEAD))
    about: Mapping[str, Any] = {}
    for record in records:
        if record.get("type") == "session_meta":
            about = native_session.part(record, "payload")
            break
    folder = native_session.text_of(about, "cwd") or next(
        (text for one in records if (text := native_session.text_of(one, "payload", "cwd"))), ""
    )
    if not folder:
        raise Unreadable("no record says in which folder it ran")
    id = native_session.text_of(about, "id") or file.path.stem[-36:]
    return Head(id, folder, file.path, file.mtime, found.summary(_lines(records)))


def _lines(records: Iterable[Mapping[str, Any]]) -> list[Line]:
    """What the events say was said; the requests to the model only where there are no events.

    The requests hold instructions in the person's place too.
    """
    events: list[Line] = []
    requests: list[Line] = []
    for record in records:
        payload = native_session.part(record, "payload")
        at = files.millis(record.get("timestamp"))
        match record.get("type"):
            case "event_msg":
                events += _event(payload, at)
            case "response_item":
                requests += _request(payload, at)
    return events or requests


def _event(payload: Mapping[str, Any], at: int) -> list[Line]:
    kind = payload.get("type")
    if kind == "item_completed":
        item = native_session.part(payload, "item")
        speaker = _SAID.get(str(item.get("type")))
        words = native_session.texts(item.get("content"), _KINDS)
        key = native_session.text_of(item, "id")
    else:
        speaker = _SAID_BEFORE.get(str(kind))
        words, key = native_session.text_of(payload, "message"), ""
    return [Line(speaker, words, at, key)] if speaker and words else []


def _request(payload: Mapping[str, Any], at: int) -> list[Line]:
    speaker = _ROLES.get(str(payload.get("role"))) if payload.get("type") == "message" else None
    words = native_session.texts(payload.get("content"), _KINDS)
    key = native_session.text_of(payload, "id")
    return [Line(speaker, words, at, key)] if speaker and words else []
