"""Answers a query from an open index: ranks, then reads the lines that it shows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mufakat.core import text as texts
from mufakat.core.knowledge import code_query, code_ranking, code_scores
from mufakat.core.knowledge.code_query import Query
from mufakat.core.knowledge.code_ranking import Ranked
from mufakat.ports.knowledge import Hit, Hits
from mufakat.retrieval.code import reading, snapshot
from mufakat.retrieval.code.reading import Refused
from mufakat.retrieval.code.snapshot import Snapshot
from mufakat.retrieval.code.store import Row, Store

LONGEST_HIT = 6_000
"""Characters of one hit's text."""
LEAST_ROOM = 80
"""Characters for which a further hit is not worth beginning."""
MOST_HITS = 100


@dataclass(slots=True)
class Room:
    """The characters that are left for the texts of an answer; None is no limit of all together."""

    left: int | None

    @property
    def full(self) -> bool:
        """Whether a further text is not worth beginning."""
        return self.left is not None and self.left < LEAST_ROOM

    @property
    def size(self) -> int:
        """Characters that the next text may have."""
        return LONGEST_HIT if self.left is None else min(self.left, LONGEST_HIT)

    def take(self, hit: Hit) -> None:
        if self.left is not None:
            self.left -= hit.size


@dataclass(slots=True)
class Reader:
    """An index open for searching, with its outline in memory."""

    store: Store
    outline: Snapshot

    @classmethod
    def of(cls, file: Path) -> Reader:
        """Open an index file; raises sqlite3.DatabaseError for one that is broken."""
        store = Store(file)
        try:
            return cls(store, snapshot.load(store))
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.store.close()

    def current(self) -> Snapshot:
        """The outline; of an index that has changed it is read anew."""
        if self.store.generation() != self.outline.generation:
            self.outline = snapshot.load(self.store, self.outline)
        return self.outline

    def rank(self, query: Query, limit: int) -> Sequence[Ranked]:
        """The best pieces for a question."""
        outline = self.current()
        postings = self.store.postings(code_scores.keys(query))
        return code_ranking.rank(query, outline.corpus, postings, outline.firsts, limit=limit)

    def search(self, root: Path, query: str, *, limit: int, chars: int | None) -> Hits:
        """The best pieces as text, together at most `chars` characters."""
        asked = code_query.parse(query)
        if asked.empty:
            return Hits((), "the query has no word to search for")
        hits: list[Hit] = []
        room = Room(chars)
        with reading.opened(root) as folder:
            for ranked in self.rank(asked, min(limit, MOST_HITS)):
                if room.full:
                    break
                hit = self._hit(folder, ranked, room.size)
                if hit is not None:
                    hits.append(hit)
                    room.take(hit)
        why = "" if hits else "no file has any of these words"
        if len(query) > code_query.LONGEST:
            why = f"only the first {code_query.LONGEST:,} characters of the query were looked at"
        return Hits(tuple(hits), why)

    def _hit(self, folder: int, ranked: Ranked, room: int) -> Hit | None:
        row = self.store.row(self.outline.paths[ranked.file])
        if row is None:
            return None
        try:
            lines = reading.read(folder, row.path).text.split("\n")
        except Refused:
            return None
        start, end, symbol = _span(row, ranked.piece)
        shown = _bare(lines[start:end])
        if not shown:
            return None
        start += shown[0]
        text = texts.cut("\n".join(shown[1]), room)
        end = start + text.count("\n") + 1
        why = ", ".join(ranked.why)
        return Hit(row.path, start + 1, end, symbol, round(ranked.score, 4), why, text, len(text))


def _span(row: Row, piece: int) -> tuple[int, int, str]:
    at = piece - row.first
    return row.pieces[at] if at < len(row.pieces) else (0, 0, "")


def _bare(lines: Sequence[str]) -> tuple[int, Sequence[str]] | None:
    """How many empty lines a piece begins with, and its lines without those at its ends."""
    full = [number for number, line in enumerate(lines) if line.strip()]
    return (full[0], lines[full[0] : full[-1] + 1]) if full else None


def lines(text: str, start: int, end: int) -> str:
    """Lines `start` to `end`, from 1; `end` 0 is the last one."""
    wanted = text.split("\n")[max(start, 1) - 1 : end or None]
    return "\n".join(wanted)
