"""First claims from several servers at once: the head row's lock lets one of them through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from equipment import coordination_records as records
from mufakat.core import base
from mufakat.ports.store import Transaction
from mufakat.storage import head_row, postgres_connections
from mufakat.storage.postgres import PostgresStore

from .conftest import OpenHome

pytestmark = pytest.mark.anyio
CLAIMS = 60


def claim(resource: str, id: str) -> Callable[[Transaction], int | None]:
    """Check, then act, in one step; answers the fence, None where somebody was quicker."""

    def step(tx: Transaction) -> int | None:
        if tx.leases.touching([resource]):
            return None
        return records.grant(tx, id, resource).fence(resource)

    return step


async def one_holder_each(stores: list[PostgresStore]) -> None:
    """The check itself: of all who claim a name that was never claimed, one gets it."""
    await stores[0].write(records.join)
    names = [f"task:{number}" for number in range(CLAIMS)]
    for name in names:
        claims = (store.write(claim(name, f"l_{name}_{i}")) for i, store in enumerate(stores))
        fences = [fence for fence in await asyncio.gather(*claims) if fence is not None]
        assert len(fences) == 1, name
    live = await stores[1].read(lambda tx: tx.leases.live())
    assert sorted(one.wanted.resources[0] for one in live) == sorted(names)


async def three(open_home: OpenHome) -> list[PostgresStore]:
    return [await open_home(name) for name in ("one", "two", "three")]


async def test_d6_first_claims_have_one_holder(open_home: OpenHome) -> None:
    await one_holder_each(await three(open_home))


async def test_d6_twin_without_the_lock_of_the_head_row_they_have_more(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = await three(open_home)
    monkeypatch.setattr(postgres_connections, "LOCKED", head_row.READ)
    with pytest.raises((AssertionError, base.MufakatError)):
        await one_holder_each(stores)
