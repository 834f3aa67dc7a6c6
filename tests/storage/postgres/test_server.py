"""A PostgreSQL that would lose acknowledged writes, or cannot be used at all, is refused."""

from __future__ import annotations

import asyncio
import itertools
import signal
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from equipment import postgres as equipment
from equipment.postgres import Cluster
from mufakat.core import base
from mufakat.core.base import Event, Revision
from mufakat.storage import postgres, postgres_server
from mufakat.storage.postgres_server import Server

from .conftest import OpenHome

pytestmark = pytest.mark.anyio
GOOD = Server(170_000, "UTF8", "on", "on", "on", "on", 2.0, False, "7", "00000001")


@pytest.mark.parametrize(
    ("change", "kind", "names"),
    [
        ({"version": 140_012}, base.StoreError, "15"),
        ({"encoding": "SQL_ASCII"}, base.StoreError, "SQL_ASCII"),
        ({"synchronous_commit": "off"}, base.StoreError, "synchronous_commit"),
        ({"synchronous_commit": "local"}, base.StoreError, "synchronous_commit"),
        ({"fsync": "off"}, base.StoreError, "fsync"),
        ({"standby": True}, base.Unavailable, "standby"),
        ({"idle_seconds": 0.0}, base.StoreError, "pooler"),
    ],
)
def test_b8_what_is_unsafe_is_refused(
    change: dict[str, object], kind: type[base.MufakatError], names: str
) -> None:
    postgres_server.refuse_unsafe(GOOD)
    postgres_server.refuse_unsafe(replace(GOOD, synchronous_commit="remote_apply"))
    with pytest.raises(kind, match=names) as caught:
        postgres_server.refuse_unsafe(replace(GOOD, **change))
    assert caught.value.fix


def test_b8_what_is_only_doubtful_is_warned_of() -> None:
    assert GOOD.warnings == ()
    for change in ({"checksums": "off"}, {"full_page_writes": "off"}, {"system": ""}):
        assert len(replace(GOOD, **change).warnings) == 1


@pytest.mark.parametrize("where", ["DATABASE {name}", "ROLE postgres IN DATABASE {name}"])
async def test_b8_synchronous_commit_off_is_refused(
    open_home: OpenHome, sql: psycopg.Connection, database: str, where: str
) -> None:
    sql.execute(f"ALTER {where.format(name=database)} SET synchronous_commit = off".encode())
    with pytest.raises(base.StoreError, match="synchronous_commit"):
        await open_home()


async def test_b8_nobody_turns_it_off_beneath_a_running_server(
    open_home: OpenHome, sql: psycopg.Connection, database: str
) -> None:
    store = await open_home()
    sql.execute(f"ALTER DATABASE {database} SET synchronous_commit = off".encode())
    assert await store.write(lambda tx: tx.events.record(Event("x", "y"))) == 1
    shown = await store.write(
        lambda tx: tx._scope._connection.exec_driver_sql("SHOW synchronous_commit").scalar()
    )
    assert shown == "on"


async def lost_at_a_crash(cluster: Cluster, home: Path) -> int:
    """The check itself: how many acknowledged events a crash of PostgreSQL takes back."""
    cluster.execute("CREATE DATABASE mine")
    store = await postgres.open_store(cluster.url("mine"), home=home)
    for n in range(30):
        await store.write(lambda tx, n=n: tx.events.record(Event("x", str(n))))
    cluster.stop(signal.SIGQUIT)
    await store.close()
    cluster.start()
    with psycopg.connect(cluster.url("mine")) as found:
        row = found.execute("SELECT count(*) FROM events").fetchone()
    assert row is not None
    return 30 - int(row[0])


async def test_d5_a_crash_of_postgresql_loses_nothing(tmp_path: Path) -> None:
    with equipment.running() as cluster:
        assert await lost_at_a_crash(cluster, tmp_path) == 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
async def test_q3_postgresql_killed_loses_nothing_and_no_reader_misses_anything(
    tmp_path: Path, rounds: int
) -> None:
    with equipment.running() as cluster:
        cluster.execute("CREATE DATABASE mine")
        store = await postgres.open_store(cluster.url("mine"), home=tmp_path)
        told: dict[str, int] = {}
        seen: list[tuple[str, int]] = []
        going = [True]
        clients = [asyncio.create_task(keeps_writing(store, n, told, going)) for n in range(8)]
        following = asyncio.create_task(keeps_reading(store, seen, going))
        for _ in range(rounds):
            head = await store.wait(Revision(0), seconds=0)
            assert await store.wait(Revision(head + 100), seconds=60) > head + 100
            await asyncio.to_thread(cluster.stop, signal.SIGKILL)
            await asyncio.to_thread(cluster.start)
        going[0] = False
        await asyncio.gather(*clients, following)
        log = await store.read(lambda tx: tx.events.after(Revision(0), limit=1_000_000))
        there = {event.subject: event.revision for event in log}
        assert {s for s in told if told[s] != there.get(s)} == set()
        assert [revision for _, revision in seen] == [event.revision for event in log]
        assert dict(seen) == there
        assert not (await store.check(deep=True)).problems
        await store.close()


async def keeps_writing(
    store: postgres.PostgresStore, client: int, told: dict[str, int], going: list[bool]
) -> None:
    """Write on and remember what was acknowledged; a lost answer is not asked again."""
    for number in itertools.count():
        subject = f"{client}_{number}"
        try:
            told[subject] = await store.write(lambda tx, s=subject: tx.events.record(Event("x", s)))
        except base.Unavailable:
            await asyncio.sleep(0.05)
        if not going[0]:
            return


async def keeps_reading(
    store: postgres.PostgresStore, seen: list[tuple[str, int]], going: list[bool]
) -> None:
    """Follow the log as a consumer does, until nothing more comes."""
    while True:
        last = not going[0]
        cursor = Revision(seen[-1][1] if seen else 0)
        try:
            await store.wait(cursor, seconds=0.5)
            rows = await store.read(lambda tx, at=cursor: tx.events.after(at, limit=500))
        except base.Unavailable:
            await asyncio.sleep(0.05)
            continue
        seen += [(event.subject, event.revision) for event in rows]
        if last and not rows:
            return


async def test_d5_twin_without_synchronous_commit_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_server, "refuse_unsafe", lambda _: None)
    lazy = {"synchronous_commit": "off", "wal_writer_delay": "10s"}
    with equipment.running(**lazy) as cluster:
        assert await lost_at_a_crash(cluster, tmp_path) > 0
