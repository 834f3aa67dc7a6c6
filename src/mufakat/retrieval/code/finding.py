"""An exact text, and places that other programs name: read here, of files that the index knows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from mufakat.core import text as texts
from mufakat.ports.knowledge import Hit, Hits
from mufakat.retrieval.code import reading
from mufakat.retrieval.code.reading import Refused
from mufakat.retrieval.code.searching import MOST_HITS, Reader, Room
from mufakat.retrieval.code.store import Row

SECONDS = 4.0
"""So long files are read for an exact text."""


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file that somebody else found."""

    path: str
    start: int
    """First line, from 1."""
    end: int
    symbol: str
    score: float
    why: str


def named(
    reader: Reader, root: Path, places: Sequence[Place], *, limit: int, chars: int | None
) -> Hits:
    """The lines of places; what the index does not know, or cannot be read, is left out."""
    hits: list[Hit] = []
    room = Room(chars)
    with reading.opened(root) as folder:
        for place in places[: min(limit, MOST_HITS)]:
            lines = _lines(reader, folder, place.path)
            text = texts.cut("\n".join(lines[place.start - 1 : place.end]), room.size)
            if room.full or not text.strip():
                continue
            end = place.start + text.count("\n")
            hit = Hit(
                place.path, place.start, end, place.symbol, place.score, place.why, text, len(text)
            )
            room.take(hit)
            hits.append(hit)
    return Hits(tuple(hits), "" if hits else "nothing was found")


def exact(
    reader: Reader,
    root: Path,
    text: str,
    *,
    among: AbstractSet[str] | None,
    limit: int,
    chars: int | None,
    seconds: float = SECONDS,
) -> Hits:
    """The lines that have a text, as it is written, file by file in order of paths.

    `among` are the only files that may have it; None: all are read, for so many seconds.
    """
    paths = [path for path in reader.current().paths if among is None or path in among]
    hits: list[Hit] = []
    room, ends = Room(chars), time.monotonic() + seconds
    with reading.opened(root) as folder:
        for number, path in enumerate(paths):
            if time.monotonic() > ends:
                why = f"only {number:,} of {len(paths):,} files were read in {seconds:g} seconds"
                return Hits(tuple(hits), why)
            for hit in _of(reader, folder, path, text):
                if len(hits) >= min(limit, MOST_HITS) or room.full:
                    return Hits(tuple(hits), "there is more; only the first places are shown")
                room.take(hit)
                hits.append(hit)
    return Hits(tuple(hits), "" if hits else "no file has this text")


def _of(reader: Reader, folder: int, path: str, text: str) -> Iterator[Hit]:
    try:
        body = reading.read(folder, path).text
    except Refused:
        return
    at, line, last = body.find(text), 1, 0
    row = reader.store.row(path) if at >= 0 else None
    while at >= 0 and row is not None:
        line += body.count("\n", last, at)
        end = line + text.rstrip("\n").count("\n")
        begin = body.rfind("\n", 0, at) + 1
        until = body.find("\n", at + max(len(text) - 1, 0))
        shown = texts.cut(body[begin : until if until >= 0 else None], Room(None).size)
        yield Hit(path, line, end, _scope(row, line), 1.0, "has this text", shown, len(shown))
        # One line is one place, however often it has the text.
        last = at
        at = body.find(text, until) if until >= 0 else -1


def _scope(row: Row, line: int) -> str:
    return next((name for start, end, name in row.pieces if start < line <= end), "")


def _lines(reader: Reader, folder: int, path: str) -> list[str]:
    """The lines of a file that the index knows; none of any other."""
    row = reader.store.row(path) if len(path) <= reading.LONGEST_PATH else None
    if row is None or not row.pieces:
        return []
    try:
        return reading.read(folder, path).text.split("\n")
    except Refused:
        return []
