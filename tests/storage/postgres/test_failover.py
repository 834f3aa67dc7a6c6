"""An older replica in the place of the database is noticed, at the start and while running."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from equipment import postgres as equipment
from equipment.postgres import Cluster
from mufakat.core import base
from mufakat.core.base import Event, Revision
from mufakat.ports.store import Transaction
from mufakat.storage import postgres, postgres_mark
from mufakat.storage.postgres_mark import Mark

pytestmark = pytest.mark.anyio
SEEN = Mark("postgresql://db/x", "7", "00000001", 1, "e1", 50)


def record(tx: Transaction) -> Revision:
    return tx.events.record(Event("x", "y"))


@pytest.fixture
def own() -> Iterator[Cluster]:
    with equipment.running() as cluster:
        cluster.execute("CREATE DATABASE mine")
        yield cluster


async def with_events(cluster: Cluster, home: Path, count: int) -> str:
    """Write some events and close; answers the epoch."""
    store = await postgres.open_store(cluster.url("mine"), home=home)
    for _ in range(count):
        await store.write(record)
    epoch = await store.read(lambda tx: tx.events.epoch())
    await store.close()
    return epoch


def fall_back(cluster: Cluster) -> None:
    """Put the copy that `keep` made in the place of the database."""
    cluster.stop(signal.SIGINT)
    shutil.rmtree(cluster.data)
    _copy(cluster, cluster.folder / "kept", cluster.data)
    cluster.start()


def keep(cluster: Cluster) -> None:
    cluster.stop(signal.SIGINT)
    _copy(cluster, cluster.data, cluster.folder / "kept")
    cluster.start()


def _copy(cluster: Cluster, source: Path, target: Path) -> None:
    shutil.copytree(source, target)
    if cluster.user:
        for path in (target, *target.rglob("*")):
            shutil.chown(path, cluster.user)


async def refused(cluster: Cluster, home: Path) -> None:
    """The check itself: a copy that lacks events is not opened."""
    await with_events(cluster, home, 3)
    keep(cluster)
    await with_events(cluster, home, 4)
    fall_back(cluster)
    with pytest.raises(base.StoreRolledBack) as caught:
        await (await postgres.open_store(cluster.url("mine"), home=home)).close()
    assert "accept-rollback" in caught.value.fix


async def test_b3_an_older_copy_is_refused_until_it_is_accepted(
    own: Cluster, tmp_path: Path
) -> None:
    epoch = await with_events(own, tmp_path, 0)
    await refused(own, tmp_path)
    store = await postgres.open_store(own.url("mine"), home=tmp_path, accept_rollback=True)
    assert await store.read(lambda tx: tx.events.epoch()) != epoch
    assert await store.write(record) == 4
    await store.close()
    store = await postgres.open_store(own.url("mine"), home=tmp_path)
    assert dict((await store.check()).facts)["generation"] == "2"
    await store.close()


async def test_b3_twin_without_the_side_file_it_is_taken_for_the_newest(
    own: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_mark, "write", lambda home, mark: None)
    with pytest.raises(pytest.fail.Exception):
        await refused(own, tmp_path)


async def test_a_running_server_notices_an_older_copy(own: Cluster, tmp_path: Path) -> None:
    await with_events(own, tmp_path / "before", 3)
    keep(own)
    store = await postgres.open_store(own.url("mine"), home=tmp_path / "here")
    assert await store.write(record) == 4
    fall_back(own)
    for work in (store.write(record), store.read(lambda tx: tx.events.head())):
        with pytest.raises(base.StoreRolledBack):
            await work
    assert not store.away
    await store.close()


async def test_a_promoted_standby_is_noticed(own: Cluster, tmp_path: Path) -> None:
    """Nothing is missing, but that cannot be known: a promotion starts a new timeline."""
    await with_events(own, tmp_path, 3)
    running = await postgres.open_store(own.url("mine"), home=tmp_path / "other")
    keep(own)
    (own.folder / "kept" / "standby.signal").touch()
    fall_back(own)
    with pytest.raises(base.Unavailable, match="standby"):
        await postgres.open_store(own.url("mine"), home=tmp_path)
    with pytest.raises(base.Unavailable, match="standby"):
        await running.read(lambda tx: tx.events.head())
    assert running.away
    with psycopg.connect(own.url("mine"), autocommit=True) as promoting:
        assert promoting.execute("SELECT pg_promote()").fetchone() == (True,)
    with pytest.raises(base.StoreRolledBack, match="failover"):
        await postgres.open_store(own.url("mine"), home=tmp_path)
    with pytest.raises(base.StoreRolledBack):
        await running.write(record)
    # What answers is not the store: nothing old may hide that.
    assert not running.away
    await running.close()
    store = await postgres.open_store(own.url("mine"), home=tmp_path, accept_rollback=True)
    assert await store.write(record) == 4
    await store.close()


@pytest.mark.parametrize(
    "change",
    [
        {"revision": 49},
        {"epoch": "e2"},
        {"system": "8"},
        {"timeline": "00000002"},
        {"address": "postgresql://other/x", "revision": 49},
        {"address": "postgresql://other/x", "system": "8"},
    ],
)
def test_what_another_history_looks_like(change: dict[str, object]) -> None:
    found = _with(change)
    with pytest.raises(base.StoreRolledBack):
        postgres_mark.refuse_rollback([SEEN], found)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"revision": 51},
        {"generation": 2, "epoch": "e2", "revision": 3, "system": "8"},
        {"address": "postgresql://other/x", "epoch": "e9", "revision": 0},
        {"system": "", "timeline": ""},
    ],
)
def test_what_may_go_on(change: dict[str, object]) -> None:
    postgres_mark.refuse_rollback([SEEN], _with(change))


def test_a_damaged_side_file_knows_nothing(tmp_path: Path) -> None:
    postgres_mark.write(tmp_path, SEEN)
    postgres_mark.write(tmp_path, _with({"address": "postgresql://other/x", "epoch": "e9"}))
    assert len(postgres_mark.read(tmp_path)) == 2
    postgres_mark.write(tmp_path, _with({"revision": 60}))
    assert [one.revision for one in postgres_mark.read(tmp_path)] == [50, 60]
    for text in ("", "{", "[1]", '[{"address": 1}]'):
        (tmp_path / postgres_mark.FILE).write_text(text)
        assert postgres_mark.read(tmp_path) == ()


def _with(change: dict[str, object]) -> Mark:
    names = ("address", "system", "timeline", "generation", "epoch", "revision")
    return Mark(**{**{name: getattr(SEEN, name) for name in names}, **change})
