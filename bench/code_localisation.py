"""From the message of a commit to the files that it touches, within so many tokens."""

from __future__ import annotations

import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench import code_baselines
from mufakat.core import tokens
from mufakat.core.knowledge import code_query
from mufakat.retrieval.code import reading, store
from mufakat.retrieval.code.refresh import Refresh
from mufakat.retrieval.code.searching import Reader
from mufakat.retrieval.code.walk import Walk

BUDGETS = (512, 1_024, 4_096)
"""Tokens of the listing, paths and symbols, that an agent is given."""
COMMITS = 200
MOST_FILES = 5
"""That a commit may touch."""
LISTED = 400
BY_PATH = 10.0
"""What a word in a path counts beside one in a text, for plain FTS5."""
Lines = Callable[[str], Iterable[str]]


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
        rows = [_row("plain FTS5, path x10 + body", _plain(root), kept)]
        with closing(store.open_store(Path(folder) / "index.db")) as index:
            Refresh(root, index, frozenset()).run()
        reader = Reader.of(Path(folder) / "index.db")
        rows.append(_row("**Mufakat**", _ours(reader), kept))
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
        files = frozenset(row[-1] for row in rows if row[0] == "M")
        if files and len(rows) <= MOST_FILES and parents:
            found.append(Commit(message.strip(), files))
            base = parents.split()[0]
        if len(found) == COMMITS * 3 // 2:
            break
    return found, base


def _row(name: str, lines: Lines, commits: Sequence[Commit]) -> list[str]:
    shares = {budget: 0.0 for budget in BUDGETS}
    for one in commits:
        listed = list(lines(one.message))
        for budget in BUDGETS:
            seen = _within(listed, budget)
            shares[budget] += len(one.files & seen) / len(one.files)
    return [name, *(f"{shares[budget] / max(len(commits), 1):.3f}" for budget in BUDGETS)]


def _within(listed: Sequence[str], budget: int) -> set[str]:
    seen, used = set(), 0
    for line in listed:
        used += tokens.estimate(line + "\n")
        if used > budget:
            break
        seen.add(line.split(" ", 1)[0])
    return seen


def _ours(reader: Reader) -> Lines:
    def lines(message: str) -> Iterable[str]:
        told: set[str] = set()
        for ranked in reader.rank(code_query.parse(message), LISTED * 4):
            path = reader.outline.paths[ranked.file]
            if path not in told:
                told.add(path)
                yield path

    return lines


def _plain(root: Path) -> Lines:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(path, body, tokenize='porter unicode61')")
    with reading.opened(root) as folder:
        for entry in Walk(folder).files():
            try:
                text = reading.read(folder, entry.path).text
            except reading.Refused:
                continue
            db.execute("INSERT INTO t VALUES (?, ?)", (entry.path, text))

    def lines(message: str) -> Iterable[str]:
        words = dict.fromkeys(code_baselines.WORD.findall(message))
        asked = " OR ".join(f'"{word}"' for word in words)
        rows = db.execute(
            "SELECT path FROM t WHERE t MATCH ? ORDER BY bm25(t, ?, 1.0) LIMIT ?",
            (asked, BY_PATH, LISTED),
        )
        return [row[0] for row in rows]

    return lines


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
