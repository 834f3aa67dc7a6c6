"""The code index of a home: one file a project, refreshed in the background, asked by many."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import assert_never

from mufakat.core.base import InvalidInput, NotFound
from mufakat.ports.knowledge import Hits, Indexed, Progress, Standing, Way
from mufakat.retrieval import git, project
from mufakat.retrieval.code import files, finding, reading, searching, upkeep
from mufakat.retrieval.code.changes import Changes
from mufakat.retrieval.code.rawq import Rawq
from mufakat.retrieval.code.reading import Refused
from mufakat.retrieval.code.refresh import Among
from mufakat.retrieval.code.ripgrep import Ripgrep
from mufakat.retrieval.code.upkeep import Project
from mufakat.retrieval.code.watching import IDLE_SECONDS, Watches

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


class LocalCodeIndex:
    """Indexes below `folder`; the home itself is never indexed."""

    def __init__(
        self,
        folder: Path,
        *,
        home: Path,
        environ: Mapping[str, str] = MappingProxyType({}),
        watches: Watches | None = None,
    ) -> None:
        """`environ` tells where programs are that may help; without it none does."""
        self._folder = folder
        self._home = home
        self._ripgrep = Ripgrep(environ)
        self._rawq = Rawq(environ)
        self._changes = Changes()
        self._watches = watches or Watches()
        self._projects: OrderedDict[Path, Project] = OrderedDict()
        # More at once would take the threads that everything else runs in.
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._resting: asyncio.TimerHandle | None = None

    async def close(self) -> None:
        """Stop what runs and close what is open."""
        if self._resting is not None:
            self._resting.cancel()
        for one in self._projects.values():
            one.stop.set()
        running = [one.task for one in self._projects.values() if one.task is not None]
        await asyncio.gather(*running, return_exceptions=True)
        for one in self._projects.values():
            await asyncio.to_thread(one.close)
        await asyncio.to_thread(self._watches.close)

    async def refresh(self, root: Path, progress: Progress | None = None) -> Indexed:
        """Look at all files, or join the refresh that is under way."""
        return await asyncio.shield(self._refreshing(await self._of(root), progress))

    async def begin(self, root: Path, *, anew: bool = False) -> Standing:
        """Begin to look at all files, and do not wait for it; `anew` to read them all again."""
        one = await self._of(root)
        if anew:
            await self._stopped(one)
            one.broken = True
            one.standing = Standing(0, False)
        self._refreshing(one, None)
        return one.standing

    async def cancel(self, root: Path) -> Standing:
        """Stop the refresh that is under way; what it has read is kept."""
        one = await self._of(root)
        await self._stopped(one)
        return one.standing

    async def standing(self, root: Path) -> Standing:
        """How far the index is."""
        return (await self._of(root)).standing

    async def search(
        self,
        root: Path,
        query: str,
        *,
        limit: int = 10,
        chars: int | None = None,
        way: Way = Way.WORDS,
    ) -> Hits:
        """The best pieces; while the first index is made, from what there is, and it says so."""
        one = await self._of(root)
        late = await self._freshen(one)
        asked = await self._asked(root, query, way, limit)
        work = partial(upkeep.using, one, partial(asked, limit=limit, chars=chars))
        try:
            hits = await asyncio.to_thread(work)
        except (sqlite3.DatabaseError, IndexError, ValueError):
            # Derived from the files, so what cannot be read is made again.
            one.broken = True
            one.checked = float("-inf")
            late = await self._freshen(one, patient=True)
            hits = await asyncio.to_thread(work)
        return replace(hits, why=late or hits.why) if late else hits

    async def _asked(self, root: Path, query: str, way: Way, limit: int) -> Callable[..., Hits]:
        """What a reader of the index has to do."""
        match way:
            case Way.WORDS:
                return lambda reader, **size: reader.search(root, query, **size)
            case Way.EXACT:
                among = await self._ripgrep.files(root, query)
                return lambda reader, **size: finding.exact(
                    reader, root, query, among=among, **size
                )
            case Way.RAWQ:
                places = await self._rawq.places(root, query, limit=limit)
                return lambda reader, **size: finding.named(reader, root, places, **size)
            case Way.FILES:
                past = await self._changes.of(root)
                return lambda reader, **size: files.search(reader, query, past, **size)
            case _:
                assert_never(way)

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
            known = await asyncio.to_thread(upkeep.known, file)
            one = self._projects.setdefault(root, Project(root, file, standing=known))
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

    async def _freshen(self, one: Project, *, patient: bool = False) -> str:
        """Look at the files again where that is due; answers why not all of it was waited for."""
        if one.task is None and time.monotonic() - one.checked < FRESH_SECONDS:
            return ""
        task = self._refreshing(one, None, look=False)
        done, _ = await asyncio.wait({task}, timeout=None if patient else PATIENCE_SECONDS)
        if not done:
            at = one.standing
            if not at.of:
                return "the files are still being looked at"
            return f"the index is being made: {at.done:,} of {at.of:,} files are read"
        if (problem := task.exception()) is not None:
            raise problem
        return "" if one.standing.complete else "the index was not made to its end"

    async def _stopped(self, one: Project) -> None:
        while one.task is not None:
            one.stop.set()
            await asyncio.wait({one.task})

    def _refreshing(
        self, one: Project, progress: Progress | None, *, look: bool = True
    ) -> asyncio.Task[Indexed]:
        """The refresh that is under way, or a new one; without `look` it may trust a watch."""
        if one.task is None:
            one.standing = replace(one.standing, running=True, done=0, of=0)
            one.stop = threading.Event()
            one.task = asyncio.create_task(self._run(one, progress, look=look))
            # Nobody may wait for it; its trouble is told by the standing.
            one.task.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._rest_later()
        return one.task

    async def _run(self, one: Project, progress: Progress | None, *, look: bool) -> Indexed:
        error = ""
        found: Indexed | None = None
        last = one.standing.last
        try:
            among = None if look else await asyncio.to_thread(upkeep.told, one, self._watches)
            if among is not None and not among.changed and last is not None:
                found = replace(last, changed=0)
            else:
                found = await self._read(one, progress, among)
            if found.complete:
                one.checked = time.monotonic()
            return found
        except Exception as problem:
            error = str(problem) or type(problem).__name__
            raise
        finally:
            ended = found or last
            one.standing = replace(
                one.standing,
                files=ended.files if ended else one.standing.files,
                running=False,
                last=ended,
                error=error,
                complete=one.standing.complete or bool(found and found.complete),
            )
            one.task = None

    async def _read(self, one: Project, progress: Progress | None, among: Among | None) -> Indexed:
        try:
            work = partial(
                upkeep.update,
                one,
                self._watches,
                home=self._home,
                progress=progress,
                among=among,
            )
            commit = await _head(one.root)
            async with self._turns:
                found = await asyncio.to_thread(work)
        except BaseException:
            self._watches.doubt(one.root)
            raise
        return replace(found, commit=commit)

    def _rest_later(self) -> None:
        """Stop watching after some time in which nobody asks."""
        if self._resting is not None:
            self._resting.cancel()
        loop = asyncio.get_running_loop()
        self._resting = loop.call_later(IDLE_SECONDS + 1, self._watches.rest)


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
