"""Several servers on one database: gapless revisions, and nobody misses what another wrote."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from equipment import postgres_writer
from equipment.postgres import Cluster
from mufakat.core import base
from mufakat.core.base import Event, Revision
from mufakat.storage import head_row, postgres_connections
from mufakat.storage.postgres import PostgresStore

from .conftest import OpenHome

pytestmark = pytest.mark.anyio


def record(subject: str) -> Callable[..., Revision]:
    return lambda tx: tx.events.record(Event("said", subject))


async def follow(store: PostgresStore, until: asyncio.Event, last: Callable[[], int]) -> list[int]:
    """Read the log above the cursor whenever woken, as a consumer does."""
    seen: list[int] = []
    while not (until.is_set() and len(seen) >= last()):
        cursor = Revision(seen[-1] if seen else 0)
        await store.wait(cursor, seconds=1)
        rows = await store.read(lambda tx, at=cursor: tx.events.after(at, limit=500))
        seen += [event.revision for event in rows]
    return seen


async def gapless(stores: list[PostgresStore]) -> None:
    """The check itself: all revisions once, each reader sees them in order, and time goes on."""
    done = asyncio.Event()
    following = [asyncio.create_task(follow(one, done, lambda: 360)) for one in stores]

    async def client(store: PostgresStore, name: str) -> list[int]:
        return [await store.write(record(f"{name}_{n}")) for n in range(20)]

    clients = [client(store, f"{i}_{c}") for i, store in enumerate(stores) for c in range(6)]
    answers = [revision for each in await asyncio.gather(*clients) for revision in each]
    done.set()
    assert sorted(answers) == list(range(1, 361))
    for seen in await asyncio.gather(*following):
        assert seen == list(range(1, 361))
    log = await stores[0].read(lambda tx: tx.events.after(Revision(0), limit=999))
    times = [event.at for event in log]
    assert times == sorted(times)
    assert not (await stores[1].check(deep=True)).problems


async def test_d1_three_servers_write_one_gapless_log(open_home: OpenHome) -> None:
    await gapless([await open_home(name) for name in ("one", "two", "three")])


async def test_d1_twin_without_the_lock_of_the_head_row_servers_collide(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [await open_home(name) for name in ("one", "two", "three")]
    monkeypatch.setattr(postgres_connections, "LOCKED", head_row.READ)
    with pytest.raises((AssertionError, base.MufakatError)):
        await asyncio.wait_for(gapless(stores), 60)


def acknowledged(process: subprocess.Popen[str]) -> dict[str, int]:
    assert process.stdout is not None
    lines = [
        line.split()
        for line in process.stdout.read().splitlines(keepends=True)
        if line[-1:] == "\n"
    ]
    process.stdout.close()
    return {subject: int(revision) for subject, revision in lines}


async def test_d1_one_server_killed_nobody_misses_an_event(
    open_home: OpenHome, cluster: Cluster, database: str, tmp_path: Path
) -> None:
    here = await open_home("here")
    argv = [sys.executable, postgres_writer.__file__, cluster.url(database)]
    others = [
        subprocess.Popen([*argv, str(tmp_path / name), name], stdout=subprocess.PIPE, text=True)
        for name in ("killed", "second")
    ]
    done = asyncio.Event()
    head = [1 << 60]
    following = asyncio.create_task(follow(here, done, lambda: head[0]))
    mine: dict[str, int] = {}
    while await here.read(lambda tx: tx.events.head()) < 300:
        subject = f"mine_{len(mine)}"
        mine[subject] = await here.write(record(subject))
    os.kill(others[0].pid, signal.SIGKILL)
    for _ in range(100):
        subject = f"mine_{len(mine)}"
        mine[subject] = await here.write(record(subject))
    os.kill(others[1].pid, signal.SIGKILL)
    told = mine | acknowledged(others[0]) | acknowledged(others[1])
    for other in others:
        other.wait()
    head[0] = await here.write(record("last"))
    done.set()
    seen = await asyncio.wait_for(following, 60)
    assert seen == list(range(1, head[0] + 1))
    log = await here.read(lambda tx: tx.events.after(Revision(0), limit=100_000))
    there = {event.subject: event.revision for event in log}
    assert {subject for subject in told if told[subject] != there.get(subject)} == set()
    assert not (await here.check(deep=True)).problems


def missed(url: str, write: tuple[str, str]) -> list[int]:
    """The check itself, on plain SQL: what a consumer misses when two writers overlap.

    The first writer begins before the second and commits after it, if it can.
    """
    begin, insert = write
    with (
        psycopg.connect(url) as slow,
        psycopg.connect(url) as quick,
        psycopg.connect(url, autocommit=True) as reader,
    ):
        reader.execute("CREATE SEQUENCE steps")
        reader.execute("CREATE TABLE counter AS SELECT 0::bigint AS revision")
        reader.execute("CREATE TABLE log (revision bigint PRIMARY KEY)")
        quick.execute("SET lock_timeout = '200ms'")
        slow.execute(begin)
        slow.execute(insert)
        try:
            quick.execute(begin)
            quick.execute(insert)
            quick.commit()
        except psycopg.errors.LockNotAvailable:
            quick.rollback()
        above = "SELECT revision FROM log WHERE revision > %s ORDER BY revision"
        seen = [row[0] for row in reader.execute(above, (0,))]
        slow.commit()
        seen += [row[0] for row in reader.execute(above, (max(seen, default=0),))]
        stored = [row[0] for row in reader.execute("SELECT revision FROM log")]
    return sorted(set(stored) - set(seen))


HEAD_ROW = (
    "SELECT revision FROM counter FOR UPDATE",
    "WITH head AS (UPDATE counter SET revision = revision + 1 RETURNING revision) "
    "INSERT INTO log SELECT revision FROM head",
)
SEQUENCE = ("SELECT 1", "INSERT INTO log VALUES (nextval('steps'))")


def test_d4_a_counter_in_a_locked_head_row_misses_nothing(cluster: Cluster, database: str) -> None:
    assert missed(cluster.url(database), HEAD_ROW) == []


def test_d4_twin_a_sequence_as_cursor_misses_events(cluster: Cluster, database: str) -> None:
    assert missed(cluster.url(database), SEQUENCE) == [1]


async def test_a_home_has_one_server(open_home: OpenHome) -> None:
    await open_home("one")
    with pytest.raises(base.InUse):
        await open_home("one")
    await open_home("two")
