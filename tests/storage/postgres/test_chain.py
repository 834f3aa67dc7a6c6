"""Several servers write one chain: each goes on from what the others have written."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import psycopg
import pytest

from mufakat.core import secrets
from mufakat.core.base import Event
from mufakat.ports.store import Transaction
from mufakat.services.ledger import Ledger
from mufakat.storage import head_row

from .conftest import OpenHome

pytestmark = pytest.mark.anyio


def record(name: str, tx: Transaction) -> None:
    tx.events.record(Event("said", name))


async def together(open_home: OpenHome) -> tuple[str, ...]:
    stores = [await open_home(name) for name in ("one", "two")]
    for round in range(4):
        await asyncio.gather(
            *(
                store.write(lambda tx, name=f"{at}_{round}_{n}": record(name, tx))
                for at, store in enumerate(stores)
                for n in range(5)
            )
        )
    return (await Ledger(stores[0], secrets.scrub).verify()).problems


async def test_two_servers_write_one_chain(open_home: OpenHome) -> None:
    assert await together(open_home) == ()


async def test_twin_a_server_that_forgets_what_others_wrote_breaks_it(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = head_row.head_of
    monkeypatch.setattr(head_row, "head_of", lambda rows: replace(real(rows), chain=""))
    assert await together(open_home)


async def test_a_change_by_hand_is_found(open_home: OpenHome, sql: psycopg.Connection) -> None:
    store = await open_home()
    for number in range(5):
        await store.write(lambda tx, number=number: record(f"{number}", tx))
    sql.execute("UPDATE events SET subject = 'other' WHERE revision = 3")
    found = (await Ledger(store, secrets.scrub).verify()).problems
    assert any("revision 3" in problem for problem in found)
