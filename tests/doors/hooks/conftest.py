"""A room of its own for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from equipment import room as rooms
from equipment.room import Room


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with rooms.opened(tmp_path) as made:
        yield made
