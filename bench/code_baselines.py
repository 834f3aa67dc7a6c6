"""What the code search is measured beside: grep of terms, ripgrep, plain FTS5, plain BM25."""

from __future__ import annotations

import math
import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.code_data import TOP, Place

WORD = re.compile(r"\w+")
LINES = 40
Ranker = Callable[[str], list[Place]]
Texts = Mapping[str, str]


def grep(texts: Texts) -> Ranker:
    """Files by how many of the words they have, then by how often."""
    lowered = {path: text.lower() for path, text in texts.items()}

    def ask(query: str) -> list[Place]:
        words = {word.lower() for word in WORD.findall(query) if len(word) > 2}
        scored = []
        for path, text in lowered.items():
            counts = [text.count(word) for word in words]
            if any(counts):
                scored.append((-sum(map(bool, counts)), -sum(counts), path))
        return [(path, 0, 0) for _, _, path in sorted(scored)[:TOP]]

    return ask


def ripgrep(root: Path) -> Ranker | None:
    """Files by how many lines have the whole query; None where it is not installed."""
    program = shutil.which("rg")
    if program is None:
        return None

    def ask(query: str) -> list[Place]:
        done = subprocess.run(
            [program, "--no-config", "-i", "-F", "-c", "-e", query, "--", "."],
            cwd=root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        rows = [line.rpartition(":") for line in done.stdout.splitlines()]
        best = sorted(rows, key=lambda row: -int(row[2]))[:TOP]
        return [(path.removeprefix("./"), 0, 0) for path, _, _ in best]

    return ask


def fts5(texts: Texts) -> Ranker:
    """SQLite's own full text over pieces of 40 lines, words stemmed."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(path UNINDEXED, n UNINDEXED, body, "
               "tokenize='porter unicode61')")  # fmt: skip
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", _pieces(texts))

    def ask(query: str) -> list[Place]:
        words = " OR ".join(f'"{word}"' for word in WORD.findall(query))
        if not words:
            return []
        rows = db.execute(
            "SELECT path, n FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?", (words, TOP)
        )
        return [(path, n + 1, n + LINES) for path, n in rows]

    return ask


def bm25(texts: Texts) -> Ranker:
    """Plain BM25 over the same pieces, words as they are."""
    rows = [(path, n, Counter(WORD.findall(body.lower()))) for path, n, body in _pieces(texts)]
    lengths = [sum(counts.values()) for _, _, counts in rows]
    mean = sum(lengths) / max(len(lengths), 1) or 1.0
    having: Counter[str] = Counter()
    for _, _, counts in rows:
        having.update(counts.keys())

    def ask(query: str) -> list[Place]:
        words = {word.lower() for word in WORD.findall(query)}
        idf = {w: math.log(1 + (len(rows) - having[w] + 0.5) / (having[w] + 0.5)) for w in words}
        scored = []
        for (path, n, counts), length in zip(rows, lengths, strict=True):
            norm = 1.2 * (0.25 + 0.75 * length / mean)
            score = sum(idf[w] * counts[w] * 2.2 / (counts[w] + norm) for w in words if w in counts)
            if score:
                scored.append((-score, path, n))
        return [(path, n + 1, n + LINES) for _, path, n in sorted(scored)[:TOP]]

    return ask


def _pieces(texts: Texts) -> Sequence[tuple[str, int, str]]:
    return [
        (path, at, "\n".join(lines[at : at + LINES]))
        for path, text in texts.items()
        for lines in [text.split("\n")]
        for at in range(0, len(lines), LINES)
    ]
