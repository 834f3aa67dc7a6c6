"""Answers a described change with the files that it touches: many, in little room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core import tokens
from mufakat.core.knowledge import code_files, code_listing, code_query, code_scores
from mufakat.core.knowledge.code_past import Past
from mufakat.ports.knowledge import Hit, Hits
from mufakat.retrieval.code.searching import MOST_HITS, Reader

MOST_LISTED = 400
LISTED_CHARS = 4_096
"""Of a listing whose room nobody names."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file, how good it is, and its best piece."""

    path: str
    score: float
    piece: int | None
    """None where its text has no word of the description."""


def search(reader: Reader, query: str, past: Past, *, limit: int, chars: int | None) -> Hits:
    """The best files with the lines that speak for them, and a listing of many more."""
    if code_query.parse(query).empty:
        return Hits((), "the query has no word to search for")
    best = rank(reader, query, past)
    room = (LISTED_CHARS if chars is None else chars) // tokens.ASCII_CHARS_PER_TOKEN
    listing, _ = code_listing.write([one.path for one in best], room)
    hits = [_hit(reader, one) for one in best[: min(limit, MOST_HITS)]]
    return Hits(tuple(hits), "" if hits else "no file has any of these words", listing)


def rank(reader: Reader, query: str, past: Past, *, limit: int = MOST_LISTED) -> Sequence[Found]:
    """The files that a described change touches, best first."""
    asked = code_query.parse(query)
    outline = reader.current()
    postings = reader.store.postings(code_scores.keys(asked))
    found = code_scores.scores(asked, outline.corpus, postings)
    best = code_files.rank(asked, outline.corpus, found, paths=outline.paths, past=past)[:limit]
    pieces = code_files.pieces(found, outline.corpus, frozenset(file for _, file in best))
    return [Found(outline.paths[file], score, pieces.get(file)) for score, file in best]


def _hit(reader: Reader, one: Found) -> Hit:
    row = None if one.piece is None else reader.store.row(one.path)
    at = 0 if row is None or one.piece is None else one.piece - row.first
    if row is None or not 0 <= at < len(row.pieces):
        return Hit(one.path, 1, 1, "", round(one.score, 4), "its path or its past", "", 0)
    start, end, symbol = row.pieces[at]
    return Hit(one.path, start + 1, end, symbol, round(one.score, 4), "its text", "", 0)
