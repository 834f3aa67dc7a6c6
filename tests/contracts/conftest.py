"""The stores that the one contract suite runs over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from equipment import postgres as server
from equipment.postgres import Cluster
from mufakat.ports.store import Store
from mufakat.storage import postgres as postgres_store
from mufakat.storage import store as sqlite_store
from mufakat.storage.clock import Readings

Open = Callable[[Readings | None], Awaitable[Store]]
"""Opens the same database again each time; the readings are its clocks."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL with a template that has the newest schema, so that a test starts at once."""
    with server.running() as cluster:
        asyncio.run(server.make_template(cluster))
        yield cluster


@contextmanager
def sqlite(request: pytest.FixtureRequest) -> Iterator[Open]:
    home: Path = request.getfixturevalue("tmp_path")

    async def opened(readings: Readings | None) -> Store:
        return await sqlite_store.open_store(home / "data" / "mufakat.db", readings=readings)

    yield opened


@contextmanager
def postgres(request: pytest.FixtureRequest) -> Iterator[Open]:
    home: Path = request.getfixturevalue("tmp_path")
    cluster: Cluster = request.getfixturevalue("cluster")
    name = cluster.create(template=server.TEMPLATE)

    async def opened(readings: Readings | None) -> Store:
        url = cluster.url(name)
        return await postgres_store.open_store(url, home=home, readings=readings)

    yield opened
    cluster.drop(name)


STORES: dict[str, Callable[[pytest.FixtureRequest], AbstractContextManager[Open]]] = {
    "sqlite": sqlite,
    "postgres": postgres,
}


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest) -> Iterator[Open]:
    """How to open the store under test; nothing is open yet."""
    with STORES[request.param](request) as opened:
        yield opened


@pytest.fixture
async def store(open_store: Open) -> AsyncIterator[Store]:
    """An open and empty store."""
    opened = await open_store(None)
    yield opened
    await opened.close()
