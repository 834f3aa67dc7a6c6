"""What conversation retrieval is compared with: full text alone, BM25 alone, the newest turns."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence

from bench.locomo import Talk
from mufakat.core.knowledge import words

Ranking = Callable[[str], Sequence[int]]
"""A question to the places of turns in their talk, best first."""


def fts5(talk: Talk) -> Ranking:
    """SQLite's full text with its stemmer over the turn's text."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE turns USING fts5(body, tokenize='porter unicode61')")
    base.executemany(
        "INSERT INTO turns(rowid, body) VALUES (?, ?)",
        [(at, turn.text) for at, turn in enumerate(talk.turns, 1)],
    )

    def rank(question: str) -> Sequence[int]:
        terms = " OR ".join(f'"{word}"' for word in _words(question))
        if not terms:
            return []
        rows = base.execute(
            "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid", (terms,)
        )
        return [at - 1 for (at,) in rows]

    return rank


def beside(ranking: Ranking, count: int) -> Ranking:
    """Each turn of another ranking, and the turns before and after it."""

    def rank(question: str) -> Sequence[int]:
        around = (at + step for at in ranking(question) for step in (0, -1, 1))
        return list(dict.fromkeys(at for at in around if 0 <= at < count))

    return rank


def bm25(talk: Talk) -> Ranking:
    """BM25 over words as they are spelled."""
    counts = [Counter(_words(turn.text)) for turn in talk.turns]
    seen = Counter(word for one in counts for word in one)
    lengths = [sum(one.values()) for one in counts]
    mean = sum(lengths) / len(lengths)

    def score(at: int, question: Sequence[str]) -> float:
        total = 0.0
        for word in question:
            count = counts[at][word]
            worth = math.log(1 + (len(counts) - seen[word] + 0.5) / (seen[word] + 0.5))
            total += worth * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * lengths[at] / mean))
        return total

    def rank(question: str) -> Sequence[int]:
        asked = _words(question)
        scores = {at: score(at, asked) for at in range(len(counts))}
        return sorted((at for at in scores if scores[at]), key=lambda at: scores[at], reverse=True)

    return rank


def recency(talk: Talk) -> Ranking:
    """The newest turns, whatever the question."""
    newest = list(reversed(range(len(talk.turns))))
    return lambda question: newest


def _words(text: str) -> list[str]:
    found = re.findall(r"[^\W_]+", text.lower())
    return [word for word in found if word not in words.STOP]
