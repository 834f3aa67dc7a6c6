"""A house of agents for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from equipment.store_records import Readings
from mufakat.storage.store import open_store
from services.coordination.leases.house import House, furnish


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    project = tmp_path / "demo"
    project.mkdir()
    readings = Readings()
    store = await open_store(tmp_path / "home" / "mufakat.db", readings=readings, reserve_bytes=0)
    try:
        yield furnish(store, readings, tmp_path / "home", project)
    finally:
        await store.close()
