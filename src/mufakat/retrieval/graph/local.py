"""The graph of projects on this machine, brought up to date whenever it is asked."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mufakat.core.base import InvalidInput, NotFound, Unavailable
from mufakat.core.knowledge import blast, source_name
from mufakat.core.knowledge.blast import Evidence, Scored
from mufakat.ports.knowledge import Indexed, Node, Reach, Relation
from mufakat.retrieval import git
from mufakat.retrieval.code import reading, walk
from mufakat.retrieval.graph import answering, history, source
from mufakat.retrieval.graph.database import Database
from mufakat.retrieval.graph.history import Commit

T = TypeVar("T")
FOLDER = "graph"
FRESH_SECONDS = 2.0
"""A graph that was read so lately is not looked at again: one pack asks several times."""
GIT_SECONDS = 20.0
SECONDS = 20.0
"""One refresh reads files so long at most; the next one goes on from there."""
BATCH = 200
"""Files that become known together."""
LONGEST_SYMBOL = 500
MOST_PATHS = 200
HISTORY = "history"
"""The commit up to which changes are counted."""


@dataclass(frozen=True, slots=True)
class News:
    """What git tells beyond what is known."""

    known: str
    """The commit that was known when git was asked."""
    head: str
    commits: Sequence[Commit] = ()
    anew: bool = False
    """Whether these are all, because the known one is no longer part of the history."""


class LocalGraph:
    """One file a project below the home; asking for one waits while it is read for another."""

    def __init__(
        self,
        home: Path,
        *,
        seconds: float = SECONDS,
        fresh: float = FRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._folder = home / "index" / FOLDER
        self._seconds = seconds
        self._fresh = fresh
        self._clock = clock
        self._locks: dict[str, threading.Lock] = {}
        self._read_at: dict[Path, float] = {}

    async def refresh(self, root: Path) -> Indexed:
        """Bring the graph of a folder up to date; raises InvalidInput for what is no folder."""
        news = await self._history(root)
        done = await asyncio.to_thread(self._using, root, lambda db: self._update(db, root, news))
        if done.complete:
            self._read_at[root] = self._clock()
        return done

    async def _freshen(self, root: Path) -> None:
        if self._clock() - self._read_at.get(root, -self._fresh) >= self._fresh:
            await self.refresh(root)

    async def ask(
        self, root: Path, relation: Relation, symbol: str, *, limit: int = 50
    ) -> Sequence[Node]:
        """What stands in a relation to a symbol or file, in order of path and line."""
        if not symbol.strip() or len(symbol) > LONGEST_SYMBOL:
            raise InvalidInput("A symbol is a name or a path.", fix="Name one, `Class.method`.")
        await self._freshen(root)
        found = await asyncio.to_thread(
            self._using, root, lambda db: answering.answer(db, relation, symbol.strip(), limit)
        )
        return await asyncio.to_thread(_with_lines, root, found)

    async def blast(self, root: Path, paths: Sequence[str], *, limit: int = 10) -> Sequence[Reach]:
        """Files that changes of `paths` may touch, most likely first."""
        wanted = [_relative(path) for path in paths[:MOST_PATHS]]
        await self._freshen(root)
        found = await asyncio.to_thread(
            self._using, root, lambda db: _ranked(db.evidence(wanted), limit)
        )
        return [Reach(one.path, one.score, one.why) for one in found]

    async def _history(self, root: Path) -> News:
        known = await asyncio.to_thread(self._using, root, lambda db: db.known(HISTORY))
        try:
            async with asyncio.timeout(GIT_SECONDS):
                return await _news(root, known)
        except (git.GitFailed, TimeoutError):
            # Without git there is no history, and everything else still holds.
            return News(known, known)

    def _using(self, root: Path, work: Callable[[Database], T]) -> T:
        """Do something with a project's graph; a damaged file is thrown away and made anew."""
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        path = self._folder / f"{name}.db"
        with self._locks.setdefault(name, threading.Lock()):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                return _done(path, work)
            except sqlite3.OperationalError as problem:
                raise Unavailable(f"The graph's file cannot be used: {problem}.") from problem
            except sqlite3.DatabaseError:
                for ending in ("", "-wal", "-shm"):
                    path.with_name(path.name + ending).unlink(missing_ok=True)
                return _done(path, work)

    def _update(self, db: Database, root: Path, news: News) -> Indexed:
        began = self._clock()
        with reading.opened(root) as folder:
            walked = walk.Walk(folder, beyond=walk.identity(self._home))
            marks = {
                entry.path: f"{entry.mark.size}:{entry.mark.mtime_ns}:{entry.mark.inode}"
                for entry in walked.files()
                if source_name.language(entry.path)
            }
            known = db.marks()
            changed = [path for path, mark in marks.items() if known.get(path) != mark]
            done = self._read(db, folder, changed, marks, until=began + self._seconds)
        with _transaction(db):
            for path in sorted(known.keys() - marks.keys()):
                db.drop(path)
            # Somebody else may have brought the same news in the meantime.
            if news.head != news.known == db.known(HISTORY):
                if news.anew:
                    db.forget_history()
                db.add(news.commits)
                db.remember(HISTORY, news.head)
        return Indexed(
            files=len(marks),
            changed=done,
            seconds=self._clock() - began,
            skipped=tuple(walked.skips),
            commit=news.head,
            complete=done == len(changed),
        )

    def _read(
        self, db: Database, root: int, changed: list[str], marks: dict[str, str], *, until: float
    ) -> int:
        """Read files until the time is up; answers how many became known."""
        for start in range(0, len(changed), BATCH):
            if self._clock() > until:
                return start
            with _transaction(db):
                for path in changed[start : start + BATCH]:
                    db.put(path, marks[path], source.read(path, _text(root, path)))
        return len(changed)


@contextmanager
def _transaction(db: Database) -> Iterator[None]:
    """All of a block, or nothing of it."""
    db.begin()
    try:
        yield
    except BaseException:
        db.rollback()
        raise
    db.commit()


async def _news(root: Path, known: str) -> News:
    head = await history.head(root)
    if head == known:
        return News(known, head)
    with suppress(git.GitFailed):
        if known:
            await git.ask(root, "merge-base", "--is-ancestor", "--end-of-options", known, head)
            return News(known, head, await history.read(root, known, most=blast.WINDOW))
    return News(known, head, await history.read(root, "", most=blast.WINDOW), anew=True)


def _done(path: Path, work: Callable[[Database], T]) -> T:
    db = Database(path)
    try:
        return work(db)
    finally:
        db.close()


def _text(root: int, path: str) -> str:
    try:
        return reading.read(root, path).text
    except reading.Refused:
        # It changed since it was listed; the next refresh sees it as it is then.
        return ""


def _relative(given: str) -> str:
    try:
        return "/".join(reading.parts(given.removeprefix("./")))
    except reading.Refused as problem:
        raise InvalidInput(
            f"{given[:200]!r} is no path inside the project.",
            fix="Give paths relative to the project's folder.",
        ) from problem


def _ranked(evidence: Evidence, limit: int) -> list[Scored]:
    if not set(evidence.changed) & set(evidence.candidates):
        raise NotFound(
            "None of these files is a source file of the project.",
            fix="Give paths relative to the project's folder.",
        )
    return blast.rank(evidence, limit=limit)


def _with_lines(root: Path, found: Sequence[Node]) -> list[Node]:
    """Each with the text of its line, read once a file."""
    texts: dict[str, list[str]] = {}
    with reading.opened(root) as folder:
        for path in {node.path for node in found}:
            texts[path] = _text(folder, path).split("\n")
    return [Node(one.path, one.line, one.symbol, _line(texts[one.path], one.line)) for one in found]


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].strip()[:200] if 0 < number <= len(lines) else ""
