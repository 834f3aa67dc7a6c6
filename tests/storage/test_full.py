"""A full disk: an error that says so, nothing half done, reads go on, and it mends by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipment import store_records as make
from equipment.store_records import TALK, number, say
from mufakat.core import base
from mufakat.core.base import Event
from mufakat.ports.store import Transaction
from mufakat.storage import store
from mufakat.storage.store import SqliteStore

from .test_writer import leave_pages, limit_pages

pytestmark = pytest.mark.anyio


async def fill(opened: SqliteStore) -> int:
    """Write until the disk is full; answer how many messages were acknowledged."""
    count = 0
    await opened.write(lambda tx: leave_pages(tx, 60))
    while True:

        def step(tx: Transaction, n: int = count + 1) -> None:
            tx.events.record(Event("said", str(n)))
            tx.messages.append(TALK, say("x" * 20_000), id=number(n))

        try:
            await opened.write(step)
        except base.StorageFull as full:
            assert full.retryable and full.fix
            return count
        count += 1


async def test_a_full_disk_is_survived(opened: SqliteStore) -> None:
    count = await fill(opened)
    assert count > 3
    state = await opened.read(
        lambda tx: (tx.conversations.get(TALK), tx.events.head(), tx.messages.get(number(count)))
    )
    assert state[0] is not None and state[0].messages == count
    assert state[1] == count
    assert state[2] is not None
    assert not (await opened.check(deep=True)).problems
    await opened.write(lambda tx: limit_pages(tx, 1 << 30))
    await opened.write(lambda tx: tx.messages.append(TALK, say("on"), id=number(count + 1)))
    assert not (await opened.check(deep=True)).problems


async def test_the_reserve_is_given_up_when_the_disk_is_full(path: Path) -> None:
    opened = await store.open_store(path, reserve_bytes=65_536)
    space = path.with_name(path.name + ".reserve")
    assert space.stat().st_size == 65_536  # noqa: ASYNC240
    await opened.write(make.setup)
    await fill(opened)
    assert not space.exists()  # noqa: ASYNC240
    assert dict((await opened.check()).facts)["reserve file"] == "given up"
    await opened.close()
