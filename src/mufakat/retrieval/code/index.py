"""The code index of a home: one file a project, refreshed in the background, asked by many."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from mufakat.core.base import InvalidInput, NotFound
from mufakat.ports.knowledge import Hits, Indexed, Progress, Standing
from mufakat.retrieval import git, project
from mufakat.retrieval.code import reading, searching, store, walk
from mufakat.retrieval.code.reading import Refused
from mufakat.retrieval.code.refresh import Refresh
from mufakat.retrieval.code.searching import Reader

FRESH_SECONDS = 2.0
"""So long a search trusts the last look at the files."""
PATIENCE_SECONDS = 0.25
"""So long a search waits for a refresh before it answers from what there is."""
OPEN = 8
"""Indexes that are kept open."""
AT_ONCE = 2
"""Projects that are read at the same time."""
GIT_SECONDS = 2.0
LONGEST_SLICE = 200_000
"""Characters of a slice."""


@dataclass(slots=True)
class Project:
    """One project's index while the server runs."""

    root: Path
    file: Path
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held by who uses the reader."""
    reader: Reader | None = None
    task: asyncio.Task[Indexed] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    standing: Standing = Standing(0, False)
    checked: float = float("-inf")
    """When the files were last looked at, on the monotonic clock."""
    broken: bool = False

    def tell(self, done: int, of: int) -> None:
        self.standing = replace(self.standing, done=done, of=of)

    def close(self) -> None:
        with self.lock:
            if self.reader is not None:
                self.reader.close()
                self.reader = None


class LocalCodeIndex:
    """Indexes below `folder`; the home itself is never indexed."""

    def __init__(self, folder: Path, *, home: Path) -> None:
        self._folder = folder
        self._home = home
        self._projects: OrderedDict[Path, Project] = OrderedDict()
        # More at once would take the threads that everything else runs in.
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def close(self) -> None:
        """Stop what runs and close what is open."""
        for one in self._projects.values():
            one.stop.set()
        running = [one.task for one in self._projects.values() if one.task is not None]
        await asyncio.gather(*running, return_exceptions=True)
        for one in self._projects.values():
            await asyncio.to_thread(one.close)

    async def refresh(self, root: Path, progress: Progress | None = None) -> Indexed:
        """Bring the index up to date, or join the refresh that is under way."""
        return await asyncio.shield(self._refreshing(await self._of(root), progress))

    async def begin(self, root: Path) -> Standing:
        """Begin a refresh, and do not wait for it."""
        one = await self._of(root)
        self._refreshing(one, None)
        return one.standing

    async def standing(self, root: Path) -> Standing:
        """How far the index is."""
        return (await self._of(root)).standing

    async def search(
        self, root: Path, query: str, *, limit: int = 10, chars: int | None = None
    ) -> Hits:
        """The best pieces; while the first index is made, from what there is, and it says so."""
        one = await self._of(root)
        late = await self._freshen(one)
        work = partial(_search, one, query, limit=limit, chars=chars)
        try:
            hits = await asyncio.to_thread(work)
        except (sqlite3.DatabaseError, IndexError, ValueError):
            # Derived from the files, so what cannot be read is made again.
            one.broken = True
            one.checked = float("-inf")
            late = await self._freshen(one, seconds=None)
            hits = await asyncio.to_thread(work)
        return replace(hits, why=late or hits.why) if late else hits

    async def slice(self, root: Path, path: str, *, start: int = 1, end: int = 0) -> str:
        """Lines of a file inside the root; raises NotFound for everything else."""
        return await asyncio.to_thread(_slice, root, path, start, end)

    async def _of(self, root: Path) -> Project:
        one = self._projects.get(root)
        if one is None:
            if not await asyncio.to_thread(root.is_dir):
                raise InvalidInput(f"{root} is not a folder.", fix="Name an existing folder.")
            await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
            name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:32]
            file = self._folder / f"{name}.db"
            known = await asyncio.to_thread(_files, file)
            made = Project(root, file, standing=Standing(known, False))
            one = self._projects.setdefault(root, made)
        self._projects.move_to_end(root)
        self._close_oldest()
        return one

    def _close_oldest(self) -> None:
        # Closing waits for the lock, and the loop must not wait for a search.
        idle = [
            one for one in self._projects.values() if one.task is None and not one.lock.locked()
        ]
        for one in idle[: max(0, len(self._projects) - OPEN)]:
            one.close()
            del self._projects[one.root]

    async def _freshen(self, one: Project, *, seconds: float | None = PATIENCE_SECONDS) -> str:
        """Look at the files again where that is due; answers why not all of it was waited for."""
        if one.task is None and time.monotonic() - one.checked < FRESH_SECONDS:
            return ""
        task = self._refreshing(one, None)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            at = one.standing
            return f"the index is being made: {at.done:,} of {at.of:,} files are read"
        if (problem := task.exception()) is not None:
            raise problem
        return ""

    def _refreshing(self, one: Project, progress: Progress | None) -> asyncio.Task[Indexed]:
        if one.task is None:
            one.standing = replace(one.standing, running=True, done=0, of=0)
            one.task = asyncio.create_task(self._run(one, progress))
            # Nobody may wait for it; its trouble is told by the standing.
            one.task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return one.task

    async def _run(self, one: Project, progress: Progress | None) -> Indexed:
        error = ""
        found: Indexed | None = None
        try:
            commit = await _head(one.root)
            async with self._turns:
                found = await asyncio.to_thread(self._work, one, progress)
            found = replace(found, commit=commit)
            one.checked = time.monotonic()
            return found
        except Exception as problem:
            error = str(problem) or type(problem).__name__
            raise
        finally:
            files = found.files if found else one.standing.files
            last = found or one.standing.last
            one.standing = replace(one.standing, files=files, running=False, last=last, error=error)
            one.task = None

    def _work(self, one: Project, progress: Progress | None) -> Indexed:
        if one.broken:
            one.close()
            store.discard(one.file)
            one.broken = False
        try:
            return self._refresh(one, progress)
        except sqlite3.DatabaseError:
            one.close()
            store.discard(one.file)
            return self._refresh(one, progress)

    def _refresh(self, one: Project, progress: Progress | None) -> Indexed:
        def tell(done: int, of: int) -> None:
            one.tell(done, of)
            if progress is not None:
                progress(done, of)

        index = store.open_store(one.file)
        try:
            beyond = walk.identity(self._home)
            return Refresh(one.root, index, beyond, progress=tell, stop=one.stop).run()
        finally:
            index.close()


def _files(file: Path) -> int:
    """How many files an index has that another run of the server made."""
    if not file.exists():
        return 0
    try:
        index = store.Store(file)
    except sqlite3.DatabaseError:
        return 0
    try:
        return index.files()
    finally:
        index.close()


def _search(one: Project, query: str, *, limit: int, chars: int | None) -> Hits:
    with one.lock:
        if one.reader is None:
            if not one.file.exists():
                return Hits((), "there is no index yet")
            one.reader = Reader.of(one.file)
        try:
            return one.reader.search(one.root, query, limit=limit, chars=chars)
        except sqlite3.DatabaseError:
            one.reader.close()
            one.reader = None
            raise


def _slice(root: Path, path: str, start: int, end: int) -> str:
    try:
        with reading.opened(root) as folder:
            content = reading.read(folder, path)
    except Refused as refused:
        raise NotFound(
            f"There is no such file to read in the project ({refused}).",
            fix="Name a text file by its path from the project's folder.",
        ) from refused
    return searching.lines(content.text, start, end)[:LONGEST_SLICE]


async def _head(root: Path) -> str:
    """The commit that the project stands on; empty where git does not say."""
    try:
        return (await asyncio.wait_for(project.position(root), GIT_SECONDS)).head
    except (OSError, TimeoutError, git.GitFailed):
        return ""
