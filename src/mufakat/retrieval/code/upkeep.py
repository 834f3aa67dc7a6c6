"""Keeps one project's index up to date and its reader open: what blocks, for threads."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from mufakat.ports.knowledge import Hits, Indexed, Progress, Skip, Standing
from mufakat.retrieval.code import store, walk
from mufakat.retrieval.code.refresh import Among, Refresh
from mufakat.retrieval.code.searching import Reader
from mufakat.retrieval.code.watching import Watches


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
    """What there is cannot be used, or is to be made anew."""

    def tell(self, done: int, of: int) -> None:
        self.standing = replace(self.standing, done=done, of=of)

    def close(self) -> None:
        with self.lock:
            if self.reader is not None:
                self.reader.close()
                self.reader = None


def told(one: Project, watches: Watches) -> Among | None:
    """What a watch told since the last look; None where all files have to be looked at."""
    # Before anything else: what is told is told once.
    changed = watches.changed(one.root)
    last = one.standing.last
    if changed is None or one.broken or last is None or not last.complete:
        return None
    return Among(changed, watches.folders(one.root)) if one.file.exists() else None


def update(
    one: Project,
    watches: Watches,
    *,
    home: Path,
    progress: Progress | None,
    among: Among | None,
) -> Indexed:
    """Bring the index up to date; a broken one is made anew. `home` itself is never read."""

    def tell(done: int, of: int) -> None:
        one.tell(done, of)
        if progress is not None:
            progress(done, of)

    beyond = walk.identity(home)
    if one.broken or not one.file.exists():
        _begin_anew(one)
        among = None
    began = time.monotonic()
    try:
        found, entered = _run(one, beyond, tell, among)
    except sqlite3.DatabaseError:
        _begin_anew(one)
        found, entered = _run(one, beyond, tell, None)
    if not found.complete:
        watches.doubt(one.root)
    elif entered:
        watches.looked(one.root, entered, began=began)
    elif among is not None and one.standing.last is not None:
        # Only some folders were looked at: of the others the last look tells.
        return replace(found, skipped=_merged(one.standing.last, found, among.changed))
    return found


def _run(
    one: Project, beyond: frozenset[tuple[int, int]], tell: Progress, among: Among | None
) -> tuple[Indexed, frozenset[str]]:
    """One refresh; with the folders that it entered where it looked at all files."""
    index = store.open_store(one.file)
    try:
        work = Refresh(one.root, index, beyond, progress=tell, stop=one.stop, among=among)
        return work.run(), work.entered
    finally:
        index.close()


def _begin_anew(one: Project) -> None:
    one.close()
    store.discard(one.file)
    one.broken = False


def _merged(last: Indexed, now: Indexed, folders: Collection[str]) -> tuple[Skip, ...]:
    kept = [one for one in last.skipped if one.path.rpartition("/")[0] not in folders]
    return tuple({one.path: one for one in (*kept, *now.skipped)}.values())


def known(file: Path) -> Standing:
    """What an index has that another run of the server made."""
    if not file.exists():
        return Standing(0, False)
    try:
        index = store.Store(file)
    except sqlite3.DatabaseError:
        return Standing(0, False)
    try:
        return Standing(index.files(), False, complete=index.complete())
    finally:
        index.close()


def using(one: Project, work: Callable[[Reader], Hits]) -> Hits:
    """Let somebody work with the open index; one that is broken is closed."""
    with one.lock:
        if one.reader is None:
            if not one.file.exists():
                return Hits((), "there is no index yet")
            one.reader = Reader.of(one.file)
        try:
            return work(one.reader)
        except sqlite3.DatabaseError:
            one.reader.close()
            one.reader = None
            raise
