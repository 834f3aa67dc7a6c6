"""Known-item search over the documents of installed packages: full text beside metadata alone.

Each question is made from a passage of one document: words of it that other documents use too,
none of them in the document's name, description or heading, so that its title does not answer it.
Every second question has the document's name as one of its words, as people ask for a library.
Weights were chosen on documents with an even place in the list of names, and are reported on the
odd ones; the index holds all of them.
"""

from __future__ import annotations

import random
import re
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench import report
from mufakat.core.knowledge.words import STOP
from mufakat.retrieval.documents import index
from mufakat.retrieval.documents.chub import Chub
from mufakat.retrieval.documents.index import Index
from mufakat.retrieval.documents.local import LocalDocuments

SEED = 7
QUESTIONS = 800
WORDS = 3
OF_ONE = 12
"""Questions from one document at most."""
SHORTEST = 200
"""Characters of a passage that a question is made from."""
OFTEN = 0.2
"""Share of the documents beyond which a word says nothing."""
FLOOR = 0.70
METADATA = "metadata alone"
PLAIN = "plain full text of sections"
OURS = "sections, name and description"
_WORD = re.compile(r"[a-z][a-z]{3,23}")

Ranker = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """Words, and the document that they are from."""

    text: str
    document: str
    named: bool
    """Whether the document's name is one of the words."""
    even: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What the index holds of one document."""

    name: str
    description: str
    sections: tuple[tuple[str, str], ...]


def main() -> str:
    """Measure on the packages that the repository itself has installed."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as home:
        documents = LocalDocuments(Path(home), Chub({"PATH": ""}), seconds=600)
        began = time.perf_counter()
        documents.refresh(root)
        seconds = time.perf_counter() - began
        path = next((Path(home) / "index" / "documents").glob("*.db"))
        known = [one for one in _known(path) if one.sections]
        asked = questions(known)
        with closing(sqlite3.connect(path)) as connection:
            return _report(connection, known, asked, seconds)


def _known(path: Path) -> list[Known]:
    """The documents of packages, in order of their names."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute(
            "SELECT name FROM documents WHERE source = 'package' ORDER BY name"
        ).fetchall()
    found = [Index(path).get(name) for (name,) in names]
    return [Known(one.name, one.description, one.sections) for one in found if one]


def questions(known: Sequence[Known]) -> list[Question]:
    """About 800 questions, the same ones for the same documents."""
    dice = random.Random(SEED)
    spread = Counter(word for one in known for word in _words(" ".join(t for _, t in one.sections)))
    common = {word for word, count in spread.items() if count > OFTEN * len(known)}
    share = max(2, min(OF_ONE, round(QUESTIONS / max(1, len(known)) * 1.6)))
    asked: list[Question] = []
    for place, one in enumerate(known):
        passages = [pair for pair in one.sections if len(pair[1]) >= SHORTEST]
        for heading, text in dice.sample(passages, min(share, len(passages))):
            title = set(_words(f"{one.name} {one.description} {heading}"))
            telling = sorted(
                word for word in _words(text) if spread[word] > 1 and word not in common | title
            )
            if len(telling) >= WORDS:
                chosen = dice.sample(telling, WORDS)
                named = len(asked) % 2 == 1
                chosen = [one.name, *chosen[1:]] if named else chosen
                asked.append(Question(" ".join(chosen), one.name, named, place % 2 == 0))
    dice.shuffle(asked)
    return asked[:QUESTIONS]


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in STOP}


def _report(
    connection: sqlite3.Connection,
    known: Sequence[Known],
    asked: Sequence[Question],
    seconds: float,
) -> str:
    rankers: Mapping[str, Ranker] = {
        METADATA: _metadata(known),
        PLAIN: _ranker(connection, weights=(0.0, 0.0, 0.0, 1.0, 1.0)),
        OURS: _ranker(connection, weights=index.WEIGHTS),
    }
    lines, recalls = [], {}
    for name, ranker in rankers.items():
        fitted = [one for one in asked if one.even]
        reported = [one for one in asked if not one.even]
        seen, _ = _recall(fitted, ranker)
        unnamed, _ = _recall([one for one in reported if not one.named], ranker)
        found, times = _recall(reported, ranker)
        recalls[name] = found[5]
        middle = sorted(times)[len(times) // 2] * 1000
        lines.append(
            [
                name,
                f"{seen[5]:.3f}",
                *(f"{found[k]:.3f}" for k in (1, 5, 10)),
                f"{unnamed[5]:.3f}",
                f"{middle:.1f}",
            ]
        )
    columns = [
        "ranker",
        "R@5 fitted half",
        "R@1",
        "R@5",
        "R@10",
        "R@5 without the name",
        "ms (median)",
    ]
    sections = sum(len(one.sections) for one in known)
    held = recalls[OURS] >= FLOOR and recalls[OURS] > max(recalls[METADATA], recalls[PLAIN])
    return (
        f"{len(asked)} known-item questions of {WORDS} words, {len(known)} documents of installed "
        f"packages with {sections:,} sections; R@k on the reported half. Index made in "
        f"{seconds:.1f} s. At least {FLOOR} and above both others: {'yes' if held else 'no'}.\n\n"
        f"{report.table(columns, lines)}"
    )


def _recall(
    asked: Sequence[Question], ranker: Ranker
) -> tuple[Mapping[int, float], Sequence[float]]:
    hits, times = Counter[int](), []
    for one in asked:
        began = time.perf_counter()
        found = ranker(one.text)
        times.append(time.perf_counter() - began)
        place = found.index(one.document) if one.document in found else 99
        hits.update(k for k in (1, 5, 10) if place < k)
    return {k: hits[k] / len(asked) for k in (1, 5, 10)}, times


def _ranker(connection: sqlite3.Connection, *, weights: Sequence[float]) -> Ranker:
    def ranked(query: str) -> list[str]:
        wanted = index.expression(query)
        found = index.rank(connection, wanted, limit=10, weights=weights)
        return [one.name for one in found]

    return ranked


def _metadata(known: Sequence[Known]) -> Ranker:
    """Names, descriptions and headings, as a registry of documents knows them."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE about USING fts5(name, description, headings, "
        "tokenize = 'porter unicode61')"
    )
    rows = [
        (one.name, one.description, " ".join(dict.fromkeys(head for head, _ in one.sections)))
        for one in known
    ]
    connection.executemany("INSERT INTO about VALUES (?, ?, ?)", rows)

    def ranked(query: str) -> list[str]:
        found = connection.execute(
            "SELECT name FROM about WHERE about MATCH ? ORDER BY bm25(about, 4, 2, 1) LIMIT 10",
            (index.expression(query),),
        )
        return [name for (name,) in found]

    return ranked
