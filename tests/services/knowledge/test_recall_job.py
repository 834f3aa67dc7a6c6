"""The index of what was said follows by itself: in small steps, across ends of any kind."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mufakat import app as application
from mufakat.app import App
from mufakat.core.base import Revision
from mufakat.services.knowledge import indexer, recall_job
from mufakat.services.knowledge.indexer import Indexer
from mufakat.services.knowledge.recall_job import RecallJob
from mufakat.settings import load
from services.conftest import House, house, project

__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio
SECONDS = 20.0


async def left(app: App) -> int:
    """Messages of all projects that are not indexed."""

    def query(tx: Any) -> int:
        every = [one for home in tx.projects.list() for one in tx.recall.behind(home.id, limit=99)]
        return sum(one.messages - one.indexed for one in every)

    return await app.store.read(query)


async def until_indexed(app: App) -> None:
    await until(lambda: left(app), 0)


async def until(look: Callable[[], Awaitable[int]], most: int) -> None:
    for _ in range(int(SECONDS / 0.02)):
        if await look() <= most:
            return
        await asyncio.sleep(0.02)
    pytest.fail("it was not indexed in time")


async def say(app: App, folder: Path, *texts: str) -> str:
    id = (await app.talk.start(str(folder), "Talk")).id
    for one in texts:
        await app.talk.say(id, one)
    return id


async def head(app: App) -> Revision:
    return await app.store.read(lambda tx: tx.events.head())


async def test_what_is_said_is_indexed_without_a_search_and_without_an_event(house: House) -> None:
    await say(house.app, house.project, "A zebra crosses.", "It is striped.")
    before = await head(house.app)
    await until_indexed(house.app)
    assert await head(house.app) == before
    assert (await house.app.store.check(deep=True)).problems == ()


@pytest.fixture
async def behind(tmp_path: Path, project: Path) -> AsyncIterator[Path]:
    """A home with sixty messages that nobody has indexed."""
    home = tmp_path / "late"
    app = await application.build(load(home))
    await app.knowledge.recall_job.close()
    await say(app, project, *(f"Message {n} of the zebra." for n in range(60)))
    assert await left(app) == 60
    await app.close()
    yield home


async def test_what_was_left_over_is_indexed_at_the_next_start(behind: Path) -> None:
    app = await application.build(load(behind))
    try:
        await until_indexed(app)
    finally:
        await app.close()


async def test_twin_a_task_that_only_follows_the_log_leaves_it_over(
    behind: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def here(job: RecallJob) -> Revision:
        return await job._store.read(lambda tx: tx.events.head())

    monkeypatch.setattr(RecallJob, "_begin", here)
    app = await application.build(load(behind))
    try:
        await asyncio.sleep(3 * recall_job.SETTLED)
        assert await left(app) == 60
    finally:
        await app.close()


class Counting:
    """A store that counts how often it is asked, and can be slow to be written to."""

    def __init__(self, store: Any, pause: float = 0.0) -> None:
        self._store = store
        self._pause = pause
        self.reads = self.writes = 0

    async def read(self, query: Callable[[Any], Any]) -> Any:
        self.reads += 1
        return await self._store.read(query)

    async def write(self, step: Callable[[Any], Any]) -> Any:
        self.writes += 1
        await asyncio.sleep(self._pause)
        return await self._store.write(step)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Told:
    """An indexer's side of the search, which remembers what it was told to index."""

    def __init__(self) -> None:
        self.projects: list[str] = []

    async def keep_up(self, project: str) -> None:
        self.projects.append(project)


async def test_nothing_is_read_or_written_while_nothing_happens(house: House) -> None:
    await say(house.app, house.project, "A zebra.")
    store, told = Counting(house.app.store), Told()
    job = RecallJob(store, told)  # type: ignore[arg-type]
    job.start()
    try:
        await asyncio.sleep(3 * recall_job.SETTLED)
        quiet = store.reads
        await asyncio.sleep(3 * recall_job.SETTLED)
        assert (store.reads, store.writes) == (quiet, 0)
        assert len(told.projects) == 1
    finally:
        await job.close()


async def test_many_messages_are_indexed_once_they_cease(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    job = RecallJob(house.app.store, told)  # type: ignore[arg-type]
    job.start()
    try:
        await asyncio.sleep(2 * recall_job.SETTLED)
        for _ in range(4):
            await say(house.app, house.project, "One.", "Two.")
            await asyncio.sleep(recall_job.SETTLED / 3)
        await asyncio.sleep(4 * recall_job.SETTLED)
        assert len(told.projects) == 1
    finally:
        await job.close()


async def test_what_is_said_elsewhere_meanwhile_is_not_passed_over(
    house: House, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    await say(house.app, house.project, "A zebra.")
    await asyncio.sleep(recall_job.SETTLED / 2)
    await say(house.app, other, "A pelican.")
    await until_indexed(house.app)


async def test_each_step_is_small(behind: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[int, int]] = []
    add = indexer._add

    def seen(tx: Any, behind: Any, turns: Any) -> bool:
        steps.append((len(turns), sum(len(one.terms) for one in turns[:-1])))
        return add(tx, behind, turns)

    monkeypatch.setattr(indexer, "_add", seen)
    app = await application.build(load(behind))
    try:
        await until_indexed(app)
        words = [" ".join(f"word{a}x{b}" for a in range(40)) for b in range(20)]
        await say(app, Path(app.settings.home).parent, *words)
        await until_indexed(app)
    finally:
        await app.close()
    assert sum(count for count, _ in steps) == 80
    assert max(count for count, _ in steps) <= indexer.FEW
    assert max(terms for _, terms in steps) < indexer.FEW_TERMS


async def test_two_servers_index_the_same_once(behind: Path) -> None:
    app = await application.build(load(behind))
    await app.knowledge.recall_job.close()
    try:
        (home,) = await app.store.read(lambda tx: tx.projects.list())
        await asyncio.gather(
            *(Indexer(app.store, time.monotonic).keep_up(home.id) for _ in range(3))
        )
        assert await left(app) == 0
        assert (await app.store.check(deep=True)).problems == ()
    finally:
        await app.close()


async def test_an_end_in_the_middle_loses_nothing(behind: Path) -> None:
    app = await application.build(load(behind))
    await app.knowledge.recall_job.close()
    slow = Counting(app.store, pause=0.05)
    job = RecallJob(slow, app.knowledge.recall)  # type: ignore[arg-type]
    job._recall = type(app.knowledge.recall)(slow, app.scrub, clock=time.monotonic)  # type: ignore[arg-type]
    job.start()
    await until(lambda: left(app), 59)
    began = time.monotonic()
    await job.close()
    assert time.monotonic() - began < 3
    assert 0 < await left(app) < 60
    await app.close()
    again = await application.build(load(behind))
    try:
        await until_indexed(again)
        assert (await again.store.check(deep=True)).problems == ()
    finally:
        await again.close()


SERVER = """
import asyncio, sys, time
from pathlib import Path
from mufakat import app as application
from mufakat.services.knowledge import indexer
from mufakat.settings import load

async def main():
    indexer.FEW, indexer.REST = 2, 20.0
    app = await application.build(load(Path(sys.argv[1])))
    def query(tx):
        return sum(tx.recall.scope(one.id).turns for one in tx.projects.list())
    while not await app.store.read(query):
        await asyncio.sleep(0.005)
    print("begun", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_kill_9_in_the_middle_loses_nothing(behind: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(behind)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert await asyncio.to_thread(server.stdout.readline) == "begun\n"
        server.send_signal(signal.SIGKILL)
    app = await application.build(load(behind))
    try:
        assert (await app.store.check(deep=True)).problems == ()
        await until_indexed(app)
        assert (await app.store.check(deep=True)).problems == ()
    finally:
        await app.close()
