"""A PostgreSQL for servers that are killed, started once for all tests here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from equipment import postgres
from equipment.postgres import Cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with postgres.running() as cluster:
        asyncio.run(postgres.make_template(cluster))
        yield cluster


@pytest.fixture
def database(cluster: Cluster) -> Iterator[str]:
    """The name of a database with the newest schema."""
    name = cluster.create(template=postgres.TEMPLATE)
    yield name
    cluster.drop(name)
