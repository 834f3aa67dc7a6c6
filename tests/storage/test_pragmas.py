"""The settings that durability rests on are there on every connection, and a wrong one is found."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from sqlalchemy import Connection

from mufakat.core import base
from mufakat.storage import connect, errors, store
from mufakat.storage.scope import Scope
from mufakat.storage.store import SqliteStore
from mufakat.storage.transaction import Transaction

pytestmark = pytest.mark.anyio
EVERYWHERE = {
    "foreign_keys": 1,
    "busy_timeout": 5000,
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
    "journal_mode": "wal",
}
ON_WRITER = {
    **EVERYWHERE,
    "synchronous": 2,
    "journal_size_limit": 64 * 1024 * 1024,
    "wal_autocheckpoint": 1000,
    "query_only": 0,
}
ON_READERS = {**EVERYWHERE, "wal_autocheckpoint": 0, "query_only": 1}


def connection_of(tx: object) -> Connection:
    assert isinstance(tx, Transaction)
    scope: Scope = tx._scope
    assert scope._connection is not None
    return scope._connection


def settings(tx: object, names: dict[str, object]) -> dict[str, object]:
    connection = connection_of(tx)
    return {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}


async def durable(opened: SqliteStore) -> None:
    """The check itself: fails on a store that a power cut could rob."""
    assert await opened.write(lambda tx: settings(tx, ON_WRITER)) == ON_WRITER
    assert await opened.read(lambda tx: settings(tx, ON_READERS)) == ON_READERS


async def test_b1_every_connection_has_its_pragmas(opened: SqliteStore) -> None:
    await durable(opened)


async def test_b1_twin_synchronous_normal_is_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connect.WRITER, "synchronous", 1)
    faulty = await store.open_store(path)
    with pytest.raises(AssertionError, match="synchronous"):
        await durable(faulty)
    await faulty.close()


async def test_a_setting_that_sqlite_does_not_take_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    with pytest.raises(base.StoreError, match="journal_mode"):
        # A database in memory cannot have a write-ahead log: SQLite answers "memory".
        connect.open_raw(tmp_path / "x.db", connect.WRITER, query="mode=memory")


async def test_b1_a_reader_that_takes_too_long_is_stopped(path: Path, opened: SqliteStore) -> None:
    engine = connect.reader(path, seconds=0.05)
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    try:
        with (
            pytest.raises(base.Unavailable),
            errors.translated(),
            engine.connect() as connection,
            connection.begin(),
        ):
            connection.exec_driver_sql(endless)
        with engine.connect() as connection, connection.begin():
            assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    finally:
        engine.dispose()


def shrinks(file: Path, *, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while file.stat().st_size and time.monotonic() < end:
        time.sleep(0.2)
    return not file.stat().st_size


async def test_b1_the_log_is_emptied_when_nothing_comes(path: Path, opened: SqliteStore) -> None:
    log = path.with_name(path.name + "-wal")
    assert log.stat().st_size
    assert await asyncio.to_thread(shrinks, log, seconds=30)
    assert not (await opened.check(deep=True)).problems
