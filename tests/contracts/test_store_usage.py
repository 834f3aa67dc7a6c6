"""What every store keeps of how sections are used."""

from __future__ import annotations

import pytest

from mufakat.core.base import ProjectId
from mufakat.core.pack.tiering import Use
from mufakat.ports.store import Store

from .conftest import Open

pytestmark = pytest.mark.anyio
ONE, OTHER = ProjectId("p_1"), ProjectId("p_2")
CODE = Use("code", True, 20, 12, 8, 3, 36_000, 4_500)
SKILLS = Use("skills", False, 7, 0, 0, 7, 0, 14_000)


async def projects(store: Store) -> None:
    await store.write(lambda tx: tx.projects.ensure("/a", "a", id=ONE))
    await store.write(lambda tx: tx.projects.ensure("/b", "b", id=OTHER))


async def test_counts_are_kept_by_project_and_section(store: Store) -> None:
    await projects(store)
    for use in (SKILLS, CODE):
        await store.write(lambda tx, use=use: tx.usage.keep(ONE, use))
    assert await store.read(lambda tx: list(tx.usage.of(ONE))) == [CODE, SKILLS]
    assert await store.read(lambda tx: tx.usage.get(ONE, "skills")) == SKILLS
    assert await store.read(lambda tx: tx.usage.get(ONE, "graph")) is None
    assert await store.read(lambda tx: list(tx.usage.of(OTHER))) == []


async def test_counts_are_replaced(store: Store) -> None:
    await projects(store)
    await store.write(lambda tx: tx.usage.keep(ONE, CODE))
    changed = Use("code", False, 1, 1, 0, 0, 3_000, 0)
    await store.write(lambda tx: tx.usage.keep(ONE, changed))
    assert await store.read(lambda tx: list(tx.usage.of(ONE))) == [changed]


async def test_counts_outlive_a_restart(open_store: Open) -> None:
    store = await open_store(None)
    await projects(store)
    await store.write(lambda tx: tx.usage.keep(ONE, CODE))
    await store.close()
    again = await open_store(None)
    assert await again.read(lambda tx: tx.usage.get(ONE, "code")) == CODE
    await again.close()
