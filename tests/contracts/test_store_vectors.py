"""What every store keeps of vectors: one model at a time, in order, beside the index."""

from __future__ import annotations

import pytest

from contracts.test_store_recall import filled, index, project
from equipment.store_records import TALK
from mufakat.core.base import ConversationId
from mufakat.core.knowledge import posting
from mufakat.ports.embedding import Vector
from mufakat.ports.recall import Embedded
from mufakat.ports.store import Store, Transaction
from mufakat.storage import vectors as queries

pytestmark = pytest.mark.anyio
MODEL = "small/2"


def vector(n: int) -> Vector:
    return Vector(bytes([n, 0, 0, 60]))


def standing(tx: Transaction, model: str = MODEL) -> dict[ConversationId, Embedded]:
    return {one.conversation: one for one in tx.vectors.standing(project(tx), model)}


def add(tx: Transaction, *numbers: int, model: str = MODEL) -> bool:
    at = standing(tx, model)[TALK]
    return tx.vectors.add(at, [vector(n) for n in numbers], model=model)


def held(tx: Transaction, model: str = MODEL) -> list[Vector]:
    first = posting.turn_of(standing(tx)[TALK].ordinal, posting.TALK, position=0)
    found = tx.vectors.some(first, first + 100, model=model)
    assert list(found) == list(range(first, first + len(found)))
    return list(found.values())


async def prepared(store: Store) -> None:
    await store.write(filled)
    await store.write(index)


async def test_it_is_known_how_far_each_conversation_has_vectors(store: Store) -> None:
    await prepared(store)
    assert await store.write(lambda tx: add(tx, 1, 2))
    found = await store.read(standing)
    assert {one.conversation: (one.talk, one.done) for one in found.values()} == {
        TALK: (3, 2),
        ConversationId("c_2"): (3, 0),
    }
    assert await store.write(lambda tx: add(tx, 3))
    assert await store.read(held) == [vector(1), vector(2), vector(3)]
    assert (await store.check(deep=True)).problems == ()


async def test_one_range_is_read(store: Store) -> None:
    await prepared(store)
    await store.write(lambda tx: add(tx, 1, 2, 3))
    first = posting.turn_of((await store.read(standing))[TALK].ordinal, posting.TALK, position=0)
    found = await store.read(lambda tx: tx.vectors.some(first + 1, first + 2, model=MODEL))
    assert found == {first + 1: vector(2)}


async def test_who_comes_second_adds_nothing(store: Store) -> None:
    await prepared(store)
    before = (await store.read(standing))[TALK]
    assert await store.write(lambda tx: add(tx, 1, 2))
    assert not await store.write(lambda tx: tx.vectors.add(before, [vector(9)], model=MODEL))
    assert not await store.write(add)
    assert await store.read(held) == [vector(1), vector(2)]


async def test_another_model_begins_anew_and_replaces(store: Store) -> None:
    await prepared(store)
    await store.write(lambda tx: add(tx, 1, 2, 3))
    other = await store.read(lambda tx: standing(tx, "other/2")[TALK])
    assert (other.talk, other.done) == (3, 0)
    assert await store.write(lambda tx: add(tx, 7, 8, model="other/2"))
    assert await store.read(lambda tx: held(tx, "other/2")) == [vector(7), vector(8)]
    assert (await store.read(standing))[TALK].done == 0
    assert (await store.check(deep=True)).problems == ()


async def test_twin_a_vector_that_is_lost_is_noticed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepared(store)
    kept = queries.Vectors._move

    def ahead(self, at, talk, model, *, fresh):  # type: ignore[no-untyped-def]
        kept(self, at, talk + 1, model, fresh=fresh)

    monkeypatch.setattr(queries.Vectors, "_move", ahead)
    await store.write(lambda tx: add(tx, 1))
    assert "a vector of what was said is lost" in (await store.check()).problems
    await store.write(lambda tx: add(tx, 2, 3))
    problems = (await store.check()).problems
    assert "vectors are ahead of the index of what was said" in problems


async def test_twin_a_vector_of_the_wrong_length_is_noticed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepared(store)
    monkeypatch.setattr(queries, "WIDTH", 4)
    await store.write(lambda tx: add(tx, 1))
    problems = (await store.check()).problems
    assert "a vector of what was said has not the length that it should have" in problems
