"""A PostgreSQL with a template, a fresh database for each test, and stores of several homes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from equipment import postgres as server
from equipment.postgres import Cluster
from mufakat.storage import postgres
from mufakat.storage.postgres import PostgresStore

OpenHome = Callable[..., Awaitable[PostgresStore]]
"""Opens the test's database from the home of that name; closed after the test."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with server.running() as cluster:
        asyncio.run(server.make_template(cluster))
        yield cluster


@pytest.fixture
def database(cluster: Cluster) -> Iterator[str]:
    """The name of a database with the newest schema."""
    name = cluster.create(template=server.TEMPLATE)
    yield name
    cluster.drop(name)


@pytest.fixture
async def open_home(cluster: Cluster, database: str, tmp_path: Path) -> AsyncIterator[OpenHome]:
    opened: list[PostgresStore] = []

    async def open_one(name: str = "one", **how: object) -> PostgresStore:
        url = str(how.pop("url", cluster.url(database)))
        opened.append(await postgres.open_store(url, home=tmp_path / name, **how))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
def sql(cluster: Cluster, database: str) -> Iterator[psycopg.Connection]:
    """A person's own connection to the test's database."""
    with psycopg.connect(cluster.url(database), autocommit=True) as connection:
        yield connection


def backends(sql: psycopg.Connection, what: str) -> list[int]:
    """Process ids of the sessions of one kind: writer, reader or listener."""
    rows = sql.execute(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name LIKE %s",
        (f"mufakat-% {what}",),
    ).fetchall()
    return [row[0] for row in rows]


def terminate(sql: psycopg.Connection, what: str) -> int:
    """End the sessions of one kind; answers how many there were."""
    found = backends(sql, what)
    for pid in found:
        sql.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    return len(found)
