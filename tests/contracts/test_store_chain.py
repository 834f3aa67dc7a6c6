"""The chain over the log and readers' cursors, in every database."""

from __future__ import annotations

import asyncio

import pytest

from contracts.conftest import Open
from mufakat.core.audit import Anchor, Chain
from mufakat.core.base import Event, Revision
from mufakat.ports.store import Store, Transaction

pytestmark = pytest.mark.anyio


def record(number: int, tx: Transaction) -> Revision:
    return tx.events.record(Event("x.y", f"s_{number}", {"n": number, "text": "ü"}))


def problems(tx: Transaction) -> list[str]:
    chain = Chain()
    found = list(chain.follow(tx.events.sealed(Revision(0), limit=1000)))
    return found + list(chain.arrive(tx.events.anchor()))


async def test_every_event_continues_the_one_before(store: Store) -> None:
    assert await store.read(lambda tx: tx.events.anchor()) == Anchor(Revision(0), "")
    await asyncio.gather(
        *(store.write(lambda tx, number=number: record(number, tx)) for number in range(40))
    )
    assert await store.read(problems) == []
    anchor = await store.read(lambda tx: tx.events.anchor())
    assert (anchor.revision, len(anchor.chain)) == (40, 64)


async def test_a_step_that_fails_leaves_no_link(store: Store) -> None:
    def broken(tx: Transaction) -> None:
        record(1, tx)
        raise RuntimeError

    await store.write(lambda tx: record(0, tx))
    results = await asyncio.gather(
        store.write(broken),
        *(store.write(lambda tx, number=number: record(number, tx)) for number in (2, 3)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, RuntimeError) for one in results) == 1
    assert await store.read(problems) == []


async def test_the_chain_goes_on_after_a_restart(open_store: Open) -> None:
    for number in range(3):
        store = await open_store(None)
        await store.write(lambda tx, number=number: record(number, tx))
        assert await store.read(problems) == []
        await store.close()


async def test_a_cursor_only_goes_forward(store: Store) -> None:
    assert await store.read(lambda tx: tx.cursors.get("reader")) is None
    for position, now in ((5, 5), (9, 9), (7, 9)):
        await store.write(lambda tx, position=position: tx.cursors.keep("reader", position))
        assert await store.read(lambda tx: tx.cursors.get("reader")) == now
    assert await store.read(lambda tx: tx.cursors.get("other")) is None
