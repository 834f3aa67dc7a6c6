"""From the message of a commit to the files that it touches, within so many tokens."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench import code_baselines
from mufakat.core import tokens
from mufakat.core.knowledge import code_listing, code_past
from mufakat.core.knowledge.code_past import Past
from mufakat.retrieval import git
from mufakat.retrieval.code import changes, files, reading, store
from mufakat.retrieval.code.refresh import Refresh
from mufakat.retrieval.code.searching import Reader
from mufakat.retrieval.code.walk import Walk

NAME = re.compile(r'"[^"]*"|\S+')
BUDGETS = (512, 1_024, 4_096)
"""Tokens of the listing that an agent is given."""
COMMITS = 200
MOST_FILES = 5
"""That a commit may touch."""
LISTED = 400
BY_PATH = 10.0
"""What a word in a path counts beside one in a text, for plain FTS5."""
FITTED = frozenset(("Exposed", "abseil-cpp", "aiohttp", "axum", "cats", "pandoc"))
"""Weights were chosen on these, which have an even place among the annotated; all others not."""
Ranker = Callable[[str], Sequence[str]]
Shown = Callable[[Sequence[str], int], set[str]]


@dataclass(frozen=True, slots=True)
class Commit:
    """A message, and the files that it touched and that were there before."""

    message: str
    files: frozenset[str]


def measure(repository: Path) -> list[list[str]]:
    """Rows of a table: ranker, then the share of touched files that each budget names."""
    commits, base = history(repository)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        root.mkdir()
        _export(repository, base, root)
        there = _files(root)
        kept = [Commit(one.message, one.files & there) for one in commits]
        kept = [one for one in kept if one.files][:COMMITS]
        with closing(store.open_store(Path(folder) / "index.db")) as index:
            Refresh(root, index, frozenset()).run()
        plain = _plain(root)
        reader = Reader.of(Path(folder) / "index.db")
        ours = _ours(reader, _past(repository, base))
        rows = [
            _row("plain FTS5, path x10 + body", plain, _lines, kept),
            _row("the same as a tree of names", plain, _tree, kept),
            _row("Mufakat without git, a path a line", _ours(reader, code_past.NONE), _lines, kept),
            _row("Mufakat, a path a line", ours, _lines, kept),
            _row("**Mufakat**", ours, _tree, kept),
        ]
        reader.close()
    return rows


def history(repository: Path) -> tuple[list[Commit], str]:
    """The newest commits that qualify, and the commit before the oldest of them."""
    out = _git(
        repository, "log", "--no-merges", "-n", str(COMMITS * 4), "--name-status",
        "--no-renames", "--format=%x01%H%x02%P%x02%B%x03",
    )  # fmt: skip
    found, base = [], ""
    for block in out.split("\x01")[1:]:
        head, _, rest = block.partition("\x03")
        _, parents, message = head.split("\x02", 2)
        rows = [line.split("\t") for line in rest.strip().splitlines()]
        touched = frozenset(row[-1] for row in rows if row[0] == "M")
        if touched and len(rows) <= MOST_FILES and parents:
            found.append(Commit(message.strip(), touched))
            base = parents.split()[0]
        if len(found) == COMMITS * 3 // 2:
            break
    return found, base


def _row(name: str, ranker: Ranker, shown: Shown, commits: Sequence[Commit]) -> list[str]:
    shares = dict.fromkeys(BUDGETS, 0.0)
    for one in commits:
        ranked = ranker(one.message)
        for budget in BUDGETS:
            seen = shown(ranked, budget)
            shares[budget] += len(one.files & seen) / len(one.files)
    return [name, *(f"{shares[budget] / max(len(commits), 1):.3f}" for budget in BUDGETS)]


def _lines(ranked: Sequence[str], budget: int) -> set[str]:
    """The paths that a list of them names within a budget."""
    seen, used = set(), 0
    for path in ranked:
        used += tokens.estimate(path + "\n")
        if used > budget:
            break
        seen.add(path)
    return seen


def _tree(ranked: Sequence[str], budget: int) -> set[str]:
    """The paths that the listing names, read as whoever is given it has to read it."""
    seen: set[str] = set()
    above: list[str] = []
    text, _ = code_listing.write(ranked, budget)
    assert tokens.estimate(text) <= budget
    for line in text.split("\n"):
        names = line.lstrip(" ")
        above = above[: len(line) - len(names)]
        if names.endswith("/"):
            above.append(names)
        else:
            seen.update("".join(above) + name.strip('"') for name in NAME.findall(names))
    return seen


def _ours(reader: Reader, past: Past) -> Ranker:
    return lambda message: [one.path for one in files.rank(reader, message, past, limit=LISTED)]


def _past(repository: Path, base: str) -> Past:
    """What was known of earlier changes before the oldest of the commits that are asked for."""
    log = _git(repository, *changes.LOG, f"--max-count={code_past.WINDOW}", base)
    return changes.parse(log[: git.LONGEST])


def _plain(root: Path) -> Ranker:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(path, body, tokenize='porter unicode61')")
    with reading.opened(root) as folder:
        for entry in Walk(folder).files():
            try:
                text = reading.read(folder, entry.path).text
            except reading.Refused:
                continue
            db.execute("INSERT INTO t VALUES (?, ?)", (entry.path, text))

    def ranked(message: str) -> Sequence[str]:
        words = dict.fromkeys(code_baselines.WORD.findall(message))
        asked = " OR ".join(f'"{word}"' for word in words)
        rows = db.execute(
            "SELECT path FROM t WHERE t MATCH ? ORDER BY bm25(t, ?, 1.0) LIMIT ?",
            (asked, BY_PATH, LISTED),
        )
        return [row[0] for row in rows]

    return ranked


def _files(root: Path) -> set[str]:
    with reading.opened(root) as folder:
        return {entry.path for entry in Walk(folder).files()}


def _export(repository: Path, commit: str, root: Path) -> None:
    with subprocess.Popen(
        ["git", "--git-dir", repository, "archive", commit], stdout=subprocess.PIPE
    ) as archive:
        subprocess.run(["tar", "-x", "-C", root], stdin=archive.stdout, check=True)


def _git(repository: Path, *words: str) -> str:
    done = subprocess.run(["git", "--git-dir", repository, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")
