"""The memory is kept by a job: after a turn, at a start, once, and over an archive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.core.base import Revision
from mufakat.services.knowledge.memory_job import MemoryJob
from mufakat.settings import load
from services.conftest import INLINE, House, Puppet, answers, house, project
from services.knowledge.remembering import FACTS, filler, lines, more, talk, topics_of

__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio


async def test_the_job_condenses_after_a_turn_by_itself(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE))
    first = await house.ask("The staging port is 8123.", engine="one")
    for prompt in filler(6):
        await house.ask(prompt, engine="one", conversation=first.conversation)
    await topics_of(house.app, first.conversation)
    assert "8123" in (await lines(house, first.conversation))[0].text


@pytest.fixture
async def bare(tmp_path: Path, project: Path) -> AsyncIterator[Path]:
    yield tmp_path / "home"


async def test_what_a_killed_server_left_is_done_at_the_next_start(
    bare: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = await application.build(load(bare))
    await app.knowledge.memory_job.close()
    id = (await app.talk.start(str(project), "Memory")).id
    for one in (*FACTS, *filler(6)):
        await app.talk.say(id, one)
    assert not await app.knowledge.memory.topics(id)
    await app.close()
    again = await application.build(load(bare))
    try:
        await topics_of(again, id)
    finally:
        await again.close()


async def test_twin_a_job_that_only_follows_the_log_leaves_it_undone(
    bare: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def head(job: MemoryJob) -> Revision:
        return await job._store.read(lambda tx: tx.events.head())

    app = await application.build(load(bare))
    await app.knowledge.memory_job.close()
    id = (await app.talk.start(str(project), "Memory")).id
    for one in (*FACTS, *filler(6)):
        await app.talk.say(id, one)
    await app.close()
    monkeypatch.setattr(MemoryJob, "_begin", head)
    again = await application.build(load(bare))
    other = (await again.talk.start(str(project), "Other")).id
    for one in (*FACTS, *filler(6)):
        await again.talk.say(other, one)
    try:
        await topics_of(again, other)
        assert not await again.knowledge.memory.topics(id)
    finally:
        await again.close()


async def test_two_at_once_condense_once(house: House) -> None:
    id = (await house.app.talk.start(str(house.project), "Memory")).id
    for one in (*FACTS, *filler(30)):
        await house.app.talk.say(id, one)
    done = await asyncio.gather(*(house.app.knowledge.memory.refresh(id) for _ in range(5)))
    texts = [line.text for line in await lines(house, id)]
    assert len(texts) == len(set(texts))
    assert sum(one.messages for one in done) <= 30


async def test_a_memory_moves_with_an_archive(tmp_path: Path, project: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    house = House(await application.build(load(old)), project, old)
    id = await talk(house, *FACTS, *filler(6))
    await more(house, id, "The staging port is 9000 now.", *filler(12, 6))
    await house.app.knowledge.memory.revoke(id, "1.2", by="human@h:1")
    topics = await house.app.knowledge.memory.topics(id)
    await house.app.close()
    archive = tmp_path / "all.archive"
    await application.export(load(old), archive)
    await application.import_archive(load(new), archive)
    moved = await application.build(load(new))
    try:
        assert await moved.knowledge.memory.topics(id) == topics
        assert (await moved.knowledge.memory.refresh(id)).messages == 0
        assert not (await moved.store.check(deep=True)).problems
    finally:
        await moved.close()
