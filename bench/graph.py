"""Blast radius from git history: one file of a real commit is given, the others are to be found."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from bench import report
from mufakat.core.knowledge import blast, source_name
from mufakat.core.knowledge.blast import Evidence, Weights
from mufakat.retrieval import git
from mufakat.retrieval.graph import history, source
from mufakat.retrieval.graph.database import Database
from mufakat.retrieval.graph.history import Commit

COMMITS = 140
"""Of each repository, the newest that qualify."""
FEWEST, MOST = 2, 10
"""Source files that a commit may change; those that were there before it count."""
LARGEST = 1024 * 1024
HALVES = ("fitted", "reported")
"""Repositories by name, in turns: weights were chosen on the first half alone."""
SEEN = 100
"""Ranks that are looked at for the first right one."""

CONTENDERS: Mapping[str, Weights] = {
    "same directory": Weights(0, 0, 0, 1),
    "name match": Weights(0, 0, 1, 0),
    "reference graph alone": Weights(0, 1, 0, 0),
    "co-change alone": Weights(1, 0, 0, 0),
    "**Mufakat, all together**": blast.SHIPPED,
}


@dataclass(frozen=True, slots=True)
class Question:
    """A commit: the file that is given, those to be found, and what was known before it."""

    given: str
    others: tuple[str, ...]
    evidence: Evidence


@dataclass(slots=True)
class Marks:
    """What a contender reached, one number a question."""

    five: list[float] = field(default_factory=list)
    ten: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)

    def take(self, found: Sequence[str], others: Sequence[str]) -> None:
        """Count one answer."""
        wanted = set(others)
        self.five.append(len(wanted & set(found[:5])) / len(wanted))
        self.ten.append(len(wanted & set(found[:10])) / len(wanted))
        rank = next((at for at, path in enumerate(found, 1) if path in wanted), 0)
        self.first.append(1 / rank if rank else 0.0)


class Repository:
    """A git folder, read without a work tree."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ask(self, *words: str, stdin: str = "") -> bytes:
        """One answer of git."""
        return subprocess.run(
            ["git", *git.SAFE, *words],
            cwd=self.folder,
            env=git.environment(os.environ),
            input=stdin.encode(),
            capture_output=True,
            check=True,
        ).stdout

    def commits(self) -> list[Commit]:
        """The whole history, oldest first."""
        return [*history.parse(self.ask(*history.LOG, "HEAD").decode("utf-8", "replace"))][::-1]

    def parents(self) -> dict[str, str]:
        """First parent of each commit."""
        lines = self.ask("rev-list", "--parents", "HEAD").decode("ascii").split("\n")
        words = (line.split(" ") for line in lines if line.count(" "))
        return {one[0]: one[1] for one in words}

    def tree(self, commit: str) -> dict[str, str]:
        """Source files of a commit: path to content."""
        found = self.ask("ls-tree", "-r", "-z", commit).decode("utf-8", "replace")
        rows = (row.partition("\t") for row in found.split("\0") if row.startswith("100"))
        return {path: about.split(" ")[2] for about, _, path in rows if source_name.language(path)}

    def texts(self, blobs: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The texts of contents; what is large or binary is empty."""
        out = self.ask("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in blobs))
        at = 0
        for blob in blobs:
            end = out.index(b"\n", at)
            size = int(out[at:end].split(b" ")[2])
            raw = out[end + 1 : end + 1 + size]
            plain = size <= LARGEST and b"\0" not in raw[:8192]
            yield blob, raw.decode("utf-8", "replace") if plain else ""
            at = end + 2 + size


def repositories(folder: Path) -> list[tuple[str, Repository]]:
    """Git folders below `folder`, by name: `NAME`, `NAME/repo` or `NAME/.git`."""
    found = []
    for one in sorted(folder.iterdir()):
        place = next((p for p in (one / "repo", one / ".git", one) if (p / "HEAD").exists()), None)
        if place is not None:
            found.append((one.name, Repository(place)))
    return found


def questions(repository: Repository) -> Iterator[Question]:
    """The newest commits that qualify, oldest first, each with what was known before it."""
    graph, commits, parents = Database(None), repository.commits(), repository.parents()
    chosen = {one.id for one in [one for one in commits if _size(one)][-COMMITS:]}
    tree: dict[str, str] = {}
    done = 0
    for at, commit in enumerate(commits):
        if commit.id not in chosen or commit.id not in parents:
            continue
        graph.add(commits[done:at])
        done = at
        now = repository.tree(parents[commit.id])
        _follow(graph, repository, tree, now)
        tree = now
        files = sorted(path for path in commit.changed if path in now)
        if len(files) >= FEWEST:
            given = min(files, key=lambda path: _order(commit.id, path))
            others = tuple(path for path in files if path != given)
            yield Question(given, others, graph.evidence([given]))
    graph.close()


def _size(commit: Commit) -> bool:
    return FEWEST <= sum(bool(source_name.language(path)) for path in commit.changed) <= MOST


def _order(commit: str, path: str) -> str:
    """A choice that nobody makes."""
    return hashlib.sha256(f"{commit}\0{path}".encode()).hexdigest()


def _follow(
    graph: Database, repository: Repository, before: Mapping[str, str], now: Mapping[str, str]
) -> None:
    """Bring the outlines from one tree to another."""
    changed = {path: blob for path, blob in now.items() if before.get(path) != blob}
    texts = dict(repository.texts(sorted(set(changed.values()))))
    graph.begin()
    for path, blob in changed.items():
        graph.put(path, blob, source.read(path, texts[blob]))
    for path in before.keys() - now.keys():
        graph.drop(path)
    graph.commit()


def measure(folder: Path) -> str:
    """The tables of the reported half, and what was fitted beside it."""
    halves: tuple[dict[str, Marks], dict[str, Marks]] = ({}, {})
    names: tuple[list[str], list[str]] = ([], [])
    lines = []
    for name, repository in repositories(folder):
        began = time.perf_counter()
        marks = {contender: Marks() for contender in CONTENDERS}
        for question in questions(repository):
            for contender, weights in CONTENDERS.items():
                found = blast.rank(question.evidence, limit=SEEN, weights=weights)
                marks[contender].take([one.path for one in found], question.others)
        asked = len(next(iter(marks.values())).ten)
        if not asked:
            continue
        seconds = time.perf_counter() - began
        print(f"{name}: {asked} commits, {seconds:.0f} s", file=sys.stderr)
        half = len(names[0]) > len(names[1])
        names[half].append(name)
        _join(halves[half], marks)
        ten = [f"{fmean(one.ten):.3f}" for one in marks.values()]
        lines.append([name.replace("+", "/"), HALVES[half], str(asked), *ten])
    return _tables(halves, lines)


def _join(total: dict[str, Marks], marks: Mapping[str, Marks]) -> None:
    for name, one in marks.items():
        kept = total.setdefault(name, Marks())
        kept.five += one.five
        kept.ten += one.ten
        kept.first += one.first


def _tables(halves: tuple[dict[str, Marks], dict[str, Marks]], lines: list[list[str]]) -> str:
    texts = []
    for title, half in zip(HALVES, halves, strict=True):
        rows = [
            [name, *(f"{fmean(each):.3f}" for each in (one.five, one.ten, one.first))]
            for name, one in half.items()
        ]
        count = len(next(iter(half.values())).ten) if half else 0
        columns = (f"{title} half, {count:,} commits", "recall@5", "recall@10", "MRR")
        texts.append(report.table(columns, rows))
    columns = ("recall@10 by repository", "half", "commits", *CONTENDERS)
    return "\n\n".join([texts[1], texts[0], report.table(columns, lines)])


def main(repos: Path) -> str:
    """Measure the git folders below `repos`."""
    return measure(repos)
