"""What a reader of one CLI's files answers, and what all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mufakat.core import text as texts
from mufakat.core.knowledge import native_session
from mufakat.core.knowledge.native_session import Line
from mufakat.ports.knowledge import NativeSession, NativeTurn, Skip

MOST_TURNS = 5_000
SUMMARY_CHARS = 120


@dataclass(frozen=True, slots=True)
class Head:
    """A session as a list shows it."""

    id: str
    folder: str
    path: Path
    at: int
    summary: str


class Reader(Protocol):
    """Finds and reads the session files of one CLI."""

    engine: str

    def heads(self, root: Path, skips: list[Skip]) -> Iterator[Head]:
        """The sessions of a project, newest first; what is broken goes to `skips`."""
        ...

    def lines(self, head: Head) -> Iterable[Line]:
        """What was said in a session; raises files.Unreadable."""
        ...


def summary(lines: Iterable[Line]) -> str:
    """The first words of a person."""
    for line in lines:
        if line.speaker == native_session.PERSON:
            words = native_session.said(line.speaker, line.text)
            if words:
                return texts.one_line(words, SUMMARY_CHARS)
    return ""


def session(engine: str, head: Head, lines: Iterable[Line]) -> NativeSession:
    """A session with what people and the agent said; a later version of a record counts."""
    kept: dict[str, Line] = {}
    for at, line in enumerate(lines):
        kept[line.key or f"\0{at}"] = line
        if len(kept) >= MOST_TURNS:
            break
    turns = []
    for line in kept.values():
        words = native_session.said(line.speaker, line.text)
        if words:
            speaker = line.speaker if line.speaker == native_session.PERSON else engine
            turns.append(NativeTurn(speaker, words, line.at))
    return NativeSession(
        engine, head.id, head.folder, str(head.path), head.at, tuple(turns), head.summary
    )
