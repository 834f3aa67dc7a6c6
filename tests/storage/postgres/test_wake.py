"""LISTEN and NOTIFY only wake: what is new comes from the log, also over a cut connection."""

from __future__ import annotations

import asyncio
import threading
import time

import psycopg
import pytest
from sqlalchemy import Connection

from equipment.postgres import Cluster
from mufakat.core.base import Event, Revision
from mufakat.storage import head_row, postgres_listener
from mufakat.storage.scope import Head

from .conftest import OpenHome, terminate

pytestmark = pytest.mark.anyio
SOON = 3.0


async def test_d10_a_write_on_one_server_wakes_the_others(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_listener, "LOOK_SECONDS", 600.0)
    one, two = await open_home("one"), await open_home("two")
    for at in range(20):
        waiting = asyncio.create_task(two.wait(Revision(at), seconds=30))
        await asyncio.sleep(0.01)
        begin = time.monotonic()
        assert await one.write(lambda tx: tx.events.record(Event("x", "y"))) == at + 1
        assert await waiting == at + 1
        assert time.monotonic() - begin < SOON


async def test_a_server_does_not_look_for_what_it_wrote_itself(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    real = head_row.read

    def counted(connection: Connection, *, lock: bool = False) -> Head:
        looks.append(threading.current_thread().name)
        return real(connection, lock=lock)

    monkeypatch.setattr(postgres_listener, "LOOK_SECONDS", 600.0)
    one = await open_home("one")
    await one.write(lambda tx: tx.events.record(Event("x", "y")))
    monkeypatch.setattr(head_row, "read", counted)
    for at in range(2, 20):
        assert await one.write(lambda tx: tx.events.record(Event("x", "y"))) == at
        assert await one.wait(Revision(at - 1), seconds=30) == at
    assert not looks
    two = await open_home("two")
    looks.clear()
    await two.write(lambda tx: tx.events.record(Event("x", "y")))
    assert await one.wait(Revision(19), seconds=30) == 20
    assert looks == ["store-listener"]


async def test_a_lost_notification_only_delays(
    open_home: OpenHome, sql: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head is looked at now and then, so nobody depends on being told."""
    monkeypatch.setattr(postgres_listener, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(postgres_listener, "CHANNEL", "nobody_writes_here")
    one, two = await open_home("one"), await open_home("two")
    await one.write(lambda tx: tx.events.record(Event("x", "y")))
    assert await two.wait(Revision(0), seconds=30) == 1


async def test_d10_a_cut_listener_misses_nothing(
    open_home: OpenHome, sql: psycopg.Connection
) -> None:
    one, two = await open_home("one"), await open_home("two")
    for at in range(5):
        assert terminate(sql, "listener") == 2
        waiting = asyncio.create_task(two.wait(Revision(at), seconds=30))
        await one.write(lambda tx: tx.events.record(Event("x", "y")))
        assert await waiting == at + 1
        await _listening(sql, 2)


async def _listening(sql: psycopg.Connection, wanted: int) -> None:
    query = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    for _ in range(200):
        if sql.execute(query).fetchone() == (wanted,):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("a listener did not come back")


def test_d10_twin_payloads_as_data_lose_what_came_meanwhile(
    cluster: Cluster, database: str, sql: psycopg.Connection
) -> None:
    """A consumer that believes the notifications loses those of its absence."""
    heard: list[int] = []
    for number in range(0, 6, 2):
        with psycopg.connect(cluster.url(database), autocommit=True) as consumer:
            consumer.execute("LISTEN naive")
            sql.execute("SELECT pg_notify('naive', %s)", (str(number),))
            heard += [int(note.payload) for note in consumer.notifies(timeout=5, stop_after=1)]
        sql.execute("SELECT pg_notify('naive', %s)", (str(number + 1),))
    assert heard == [0, 2, 4]
    with pytest.raises(AssertionError):
        assert heard == list(range(6))
