"""Branches that were tampered with are not served, orphans are found, they move with a store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts.test_store_branches import INNER, ONE, PROJECT, SIDE, TWO, build
from mufakat.core import base
from mufakat.storage import integrity, store, transfer

pytestmark = pytest.mark.anyio


async def damaged(path: Path, *statements: str) -> None:
    opened = await store.open_store(path)
    await opened.write(build)
    assert not (await opened.check(deep=True)).problems
    await opened.close()
    with closing(sqlite3.connect(path)) as raw, raw:
        for statement in statements:
            raw.execute(statement)


@pytest.mark.parametrize(
    "change", ["parent = 'c_3'", "number = 9", "status = 'adopted'", "project = 'p_2'"]
)
async def test_a_row_that_was_changed_outside_is_not_served(path: Path, change: str) -> None:
    await damaged(path, f"UPDATE branches SET {change} WHERE conversation = 'c_2'")
    opened = await store.open_store(path)
    with pytest.raises(base.StoreCorrupt):
        await opened.read(lambda tx: tx.branches.get(SIDE))
    await opened.close()


async def test_twin_without_the_seal_another_checkpoint_would_count(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await damaged(path, "UPDATE branches SET number = 9 WHERE conversation = 'c_2'")
    opened = await store.open_store(path)
    with closing(sqlite3.connect(path)) as raw:
        seal = raw.execute("SELECT seal FROM branches WHERE conversation = 'c_2'").fetchone()[0]
    monkeypatch.setattr(integrity, "seal", lambda _: seal)
    found = await opened.read(lambda tx: tx.branches.get(SIDE))
    assert found is not None and found.number == 9
    await opened.close()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM messages WHERE id = 'm_000001'", "a message that its parent does not have"),
        ("DELETE FROM branches WHERE conversation = 'c_2'", "not one deeper than what it came"),
        ("DELETE FROM conversations WHERE id = 'c_3'", "lost its conversation or its parent"),
        (
            "UPDATE branches SET status = 'adopted', summary = 'm_x' WHERE conversation = 'c_2'",
            "adopted by a message that is not there",
        ),
        (
            "UPDATE branches SET status = 'adopted' WHERE conversation = 'c_2'",
            "adopted without a message",
        ),
    ],
)
async def test_the_check_finds_a_branch_that_hangs_in_the_air(
    path: Path, statement: str, problem: str
) -> None:
    await damaged(path, "PRAGMA foreign_keys=OFF", statement)
    opened = await store.open_store(path)
    problems = (await opened.check()).problems
    await opened.close()
    assert any(problem in one for one in problems), problems


async def test_they_move_with_an_archive(path: Path, tmp_path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(build)
    target = tmp_path / "all.jsonl.gz"
    await opened.export(target)
    await opened.close()
    other = await store.open_store(tmp_path / "to" / "mufakat.db")
    await other.write(transfer.load(target))
    found = await other.read(lambda tx: dict(tx.branches.every(PROJECT)))
    assert found == {SIDE: ONE, INNER: TWO}
    assert not (await other.check(deep=True)).problems
    await other.close()
