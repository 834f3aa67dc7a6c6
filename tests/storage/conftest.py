"""A temporary SQLite store, and its file while nobody has it open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from equipment import store_records as make
from mufakat.storage import store
from mufakat.storage.store import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database of a test lies; not there yet."""
    return tmp_path / "data" / "mufakat.db"


@pytest.fixture
async def opened(path: Path) -> AsyncIterator[SqliteStore]:
    """An open store with one conversation."""
    opened = await store.open_store(path, reserve_bytes=0)
    await opened.write(make.setup)
    yield opened
    await opened.close()
