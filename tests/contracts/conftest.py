"""The stores that the one contract suite runs over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from mufakat.ports.store import Store
from mufakat.storage import store as sqlite_store
from mufakat.storage.clock import Readings

Open = Callable[[Readings | None], Awaitable[Store]]
"""Opens the same database again each time; the readings are its clocks."""


def sqlite(home: Path) -> Open:
    async def opened(readings: Readings | None) -> Store:
        return await sqlite_store.open_store(home / "data" / "mufakat.db", readings=readings)

    return opened


STORES: dict[str, Callable[[Path], Open]] = {"sqlite": sqlite}


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """How to open the store under test; nothing is open yet."""
    return STORES[request.param](tmp_path)


@pytest.fixture
async def store(open_store: Open) -> AsyncIterator[Store]:
    """An open and empty store."""
    opened = await open_store(None)
    yield opened
    await opened.close()
