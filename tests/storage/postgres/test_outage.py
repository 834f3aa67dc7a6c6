"""PostgreSQL goes away: callers hear so at once, and all is well without an operator after it."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from equipment import command
from equipment import postgres as server
from equipment.postgres import Cluster
from mufakat.core import base
from mufakat.core.base import Event, Revision
from mufakat.ports.store import Transaction
from mufakat.storage import postgres, postgres_sessions
from mufakat.storage.postgres import PostgresStore
from mufakat.storage.postgres_outage import LAST_SECONDS, Outage

from .conftest import OpenHome, terminate

pytestmark = pytest.mark.anyio
AT_ONCE = 3.0
"""A second, with the margin that a busy machine needs."""
BACK = 15.0
"""Five seconds, with the same margin."""


def record(tx: Transaction) -> Revision:
    return tx.events.record(Event("x", "y"))


@pytest.fixture
def own() -> Iterator[Cluster]:
    """A server that a test may stop."""
    with server.running() as cluster:
        cluster.execute("CREATE DATABASE mine")
        yield cluster


async def recovered(store: PostgresStore) -> int:
    begin = time.monotonic()
    while True:
        try:
            return await store.write(record)
        except base.Unavailable:
            assert time.monotonic() - begin < BACK
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGINT], ids=["crash", "restart"])
async def test_pg_down_is_unavailable_at_once_and_mends_by_itself(
    own: Cluster, tmp_path: Path, number: int
) -> None:
    store = await postgres.open_store(own.url("mine"), home=tmp_path)
    assert [await store.write(record) for _ in range(5)] == [1, 2, 3, 4, 5]
    waiting = asyncio.create_task(store.wait(Revision(5), seconds=60))
    own.stop(number)
    for _ in range(20):
        begin = time.monotonic()
        for work in (store.write(record), store.read(lambda tx: tx.events.head())):
            with pytest.raises(base.Unavailable) as caught:
                await work
            assert caught.value.retryable
        assert time.monotonic() - begin < AT_ONCE
    own.start()
    assert await recovered(store) == 6
    assert await waiting == 6
    assert await store.read(lambda tx: tx.events.head()) == 6
    assert not (await store.check(deep=True)).problems
    await store.close()


def test_the_door_says_503_and_mends_by_itself(own: Cluster, tmp_path: Path) -> None:
    home = command.fresh(tmp_path)
    home.environ["MUFAKAT_STORE"] = own.url("mine")
    assert home.run("up", "--detach").code == 0
    try:
        endpoint = home.client.endpoint
        head = {"Authorization": f"Bearer {endpoint.token}"}
        with httpx.Client(base_url=endpoint.url, headers=head, timeout=30) as door:
            assert door.get("/api/v1/conversations").status_code == 200
            assert home.run("agents").err == ""
            own.stop(signal.SIGQUIT)
            answer = door.post("/api/v1/agents/pause", json={})
            assert answer.status_code == 503
            assert (answer.json()["code"], answer.json()["retryable"]) == ("unavailable", True)
            assert door.get("/api/v1/conversations").json()["stale"]
            listed = home.run("agents")
            assert (listed.code, "the database is away" in listed.err) == (0, True), listed
            own.start()
            begin = time.monotonic()
            while door.post("/api/v1/agents/pause", json={}).status_code != 200:
                assert time.monotonic() - begin < BACK
                time.sleep(0.05)
            assert "stale" not in door.get("/api/v1/conversations").json()
    finally:
        home.kill()


async def test_a_connection_that_died_while_idle_is_replaced_unseen(
    open_home: OpenHome, sql: psycopg.Connection
) -> None:
    store = await open_home()
    for _ in range(5):
        await store.write(record)
        await store.read(lambda tx: tx.events.head())
        assert terminate(sql, "writer") == 1
        assert terminate(sql, "reader") >= 1
        await store.write(record)
        await store.read(lambda tx: tx.events.head())
    assert await store.read(lambda tx: tx.events.head()) == 10


async def test_a_connection_that_dies_in_a_batch_undoes_it(
    open_home: OpenHome, sql: psycopg.Connection
) -> None:
    store = await open_home()
    begun, go_on = threading.Event(), threading.Event()

    def cut(tx: Transaction) -> None:
        tx.events.record(Event("torn", "x"))
        begun.set()
        assert go_on.wait(20)
        tx.events.record(Event("torn", "x"))

    async def neighbours() -> list[object]:
        return await asyncio.gather(
            store.write(cut), *(store.write(record) for _ in range(5)), return_exceptions=True
        )

    writing = asyncio.create_task(neighbours())
    await asyncio.to_thread(begun.wait, 20)
    terminate(sql, "writer")
    go_on.set()
    answers = await writing
    assert all(isinstance(answer, base.Unavailable) for answer in answers[:1])
    assert await store.write(record) == 1 + sum(isinstance(answer, int) for answer in answers)
    log = await store.read(lambda tx: tx.events.after(Revision(0), limit=99))
    assert "torn" not in {event.kind for event in log}
    assert not (await store.check(deep=True)).problems


async def held_by_a_zombie(store: PostgresStore, settings: dict[str, str], url: str) -> None:
    """The check itself: a silent session that has locked the head row holds nobody for long."""
    options = " ".join(
        f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in settings.items()
    )
    zombie = psycopg.connect(url, options=options)
    try:
        zombie.execute("SELECT * FROM head FOR UPDATE")
        async with asyncio.timeout(3 * 3.0):
            await store.write(record)
    finally:
        zombie.close()


async def test_d9_a_session_idle_in_a_transaction_is_ended(
    open_home: OpenHome, cluster: Cluster, database: str
) -> None:
    store = await open_home()
    await held_by_a_zombie(store, dict(postgres_sessions.WRITER), cluster.url(database))


async def test_d9_twin_without_the_timeout_it_holds_everybody(
    open_home: OpenHome, cluster: Cluster, database: str
) -> None:
    store = await open_home()
    with pytest.raises(TimeoutError):
        await held_by_a_zombie(store, {}, cluster.url(database))


def test_tries_are_spaced_out_up_to_two_seconds() -> None:
    outage = Outage()
    outage.refuse()
    pauses = [outage.failed(base.Unavailable("no answer")) for _ in range(12)]
    assert all(low < high * 2.01 for low, high in zip(pauses, pauses[1:], strict=False))
    assert 0.025 <= pauses[0] <= 0.05
    assert LAST_SECONDS / 2 <= pauses[-1] <= LAST_SECONDS
    with pytest.raises(base.Unavailable, match="no answer"):
        outage.refuse()
    outage.over()
    outage.refuse()


async def test_nobody_listens_where_the_address_leads(tmp_path: Path) -> None:
    url = f"postgresql://somebody:hunter2@127.0.0.1:{server.free_port()}/x"
    with pytest.raises(base.Unavailable) as caught:
        await postgres.open_store(url, home=tmp_path)
    assert "hunter2" not in str(caught.value) + caught.value.fix
