"""Over restores too a fence never falls, and nothing that a backup knew of is still in force."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from equipment import coordination_records as make
from equipment.coordination_records import ALICE, grant, waiter
from equipment.random_grants import Grants
from mufakat.core import base
from mufakat.core.base import Event
from mufakat.core.coordination.lease import Cause
from mufakat.ports.coordination import Credential, Life
from mufakat.ports.store import Transaction
from mufakat.storage import generation, head_row, restore, store

pytestmark = pytest.mark.anyio
RESTORES = 6
KEY = "task:report"


async def over_restores(path: Path, grants: Grants) -> None:
    """A thousand grants and ends; again and again the first backup is put back."""
    saved = path.parent.parent / "saved.db"
    for turn in range(RESTORES + 1):
        opened = await store.open_store(path)
        for _ in range(3):
            await opened.write(grants.some)
            await opened.write(lambda tx: tx.events.record(Event("x", "y")))
        if not turn:
            await opened.backup(saved)
        assert not (await opened.check(deep=True)).problems
        await opened.close()
        restore.restore(saved, path)


async def test_l3_fences_only_rise_over_restores(path: Path) -> None:
    grants = Grants(random.randrange(1 << 32))
    await over_restores(path, grants)
    grants.only_rise()


async def test_l3_twin_with_the_generation_kept_a_fence_comes_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = head_row.begin_generation

    def kept(connection, old, *, at_least):
        new = begin(connection, old, at_least=at_least)
        connection.execute(head_row.SAVE, head_row.values(old))
        return old if new else new

    monkeypatch.setattr(head_row, "begin_generation", kept)
    monkeypatch.setattr(generation, "refuse_rollback", lambda mark, head: None)
    grants = Grants(7)
    await over_restores(path, grants)
    with pytest.raises(AssertionError):
        grants.only_rise()


def in_force(tx: Transaction) -> None:
    make.join(tx)
    tx.credentials.add(Credential("aa", ALICE, 1, Life.LIVE))
    tx.credentials.add(Credential("bb", ALICE, 1, Life.SUPERSEDED))
    grant(tx, "l_1", KEY, "file:/srv/demo/**")
    tx.leases.enqueue(waiter("w_1", KEY))
    tx.events.record(Event("x", "y"))


async def nothing_in_force(path: Path) -> int:
    """The check itself; answers the fence that is given out next."""
    opened = await store.open_store(path)

    def look(tx: Transaction) -> object:
        lease, live, over = (
            tx.leases.get("l_1"),
            tx.credentials.get("aa"),
            tx.credentials.get("bb"),
        )
        assert lease is not None and live is not None and over is not None
        ends = (lease.cause, lease.ended is not None, live.life, over.life)
        return ends, list(tx.leases.live()), list(tx.leases.touching([KEY])), tx.leases.waiters()

    try:
        ends = (Cause.REVOKED, True, Life.REVOKED, Life.SUPERSEDED)
        assert await opened.read(look) == (ends, [], [], [])
        assert not (await opened.check(deep=True)).problems
        return (await opened.write(lambda tx: grant(tx, "l_2", KEY))).fences[0]
    finally:
        await opened.close()


async def test_b5_after_a_restore_nobody_holds_and_sessions_register_again(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(in_force)
    saved = await opened.backup(path.parent / "saved.db")
    await opened.close()
    restore.restore(saved, path)
    assert await nothing_in_force(path) == (2 << 40) + 2


async def test_b3_an_accepted_rollback_ends_what_the_old_copy_thinks_is_live(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(in_force)
    await opened.close()
    old = path.read_bytes()
    opened = await store.open_store(path)
    await opened.write(lambda tx: [tx.events.record(Event("x", str(n))) for n in range(9)])
    await opened.close()
    path.write_bytes(old)
    with pytest.raises(base.StoreRolledBack):
        await store.open_store(path)
    await (await store.open_store(path, accept_rollback=True)).close()
    assert await nothing_in_force(path) == (2 << 40) + 2


async def test_b5_twin_without_the_reset_a_restored_lease_is_live(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = await store.open_store(path)
    await opened.write(in_force)
    saved = await opened.backup(path.parent / "saved.db")
    await opened.close()
    monkeypatch.setattr(head_row.reset, "end_what_was_live", lambda connection, now: None)
    restore.restore(saved, path)
    with pytest.raises(AssertionError):
        await nothing_in_force(path)
