"""What every store keeps of knowledge: consents, notes, links, sessions taken over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipment import store_records as make
from equipment.store_records import PROJECT, TALK
from mufakat.core import base
from mufakat.core.base import ConversationId, Millis, ProjectId
from mufakat.core.knowledge.document import Note
from mufakat.core.knowledge.link import Link
from mufakat.core.knowledge.native_session import Imported
from mufakat.core.knowledge.skill import Consent
from mufakat.ports.store import Store, Transaction

pytestmark = pytest.mark.anyio
OTHER = ConversationId("c_2")


def setup(tx: Transaction) -> None:
    make.setup(tx)
    tx.projects.ensure("/srv/other", "other", id=ProjectId("p_2"))
    tx.conversations.add(make.conversation(OTHER, project=ProjectId("p_2")))


async def test_the_newest_consent_counts_and_is_the_projects_own(store: Store) -> None:
    await store.write(setup)
    first = Consent(PROJECT, "release", "aa", Millis(5), "human@host:000001")
    second = replace(first, digest="bb", at=Millis(6))
    elsewhere = replace(first, project=ProjectId("p_2"))
    for one in (first, second, elsewhere):
        await store.write(lambda tx, one=one: tx.consents.keep(one))
    assert list(await store.read(lambda tx: tx.consents.of(PROJECT))) == [second]
    assert await store.write(lambda tx: tx.consents.drop(PROJECT, "release"))
    assert not await store.write(lambda tx: tx.consents.drop(PROJECT, "release"))
    assert list(await store.read(lambda tx: tx.consents.of(ProjectId("p_2")))) == [elsewhere]


async def test_notes_come_newest_first_and_stay_in_their_project(store: Store) -> None:
    await store.write(setup)
    notes = [
        Note(f"n_{n}", PROJECT, "fastapi", "codex@host:000002", Millis(n), f"note {n} 한국어 😀")
        for n in range(4)
    ]
    other = replace(notes[0], id="n_9", project=ProjectId("p_2"))
    for one in (*notes, other, replace(notes[0], id="n_8", document="starlette")):
        await store.write(lambda tx, one=one: tx.notes.add(one))
    found = await store.read(lambda tx: tx.notes.of(PROJECT, "fastapi", limit=3))
    assert list(found) == [notes[3], notes[2], notes[1]]
    with pytest.raises(base.InvalidInput):
        await store.write(lambda tx: tx.notes.add(replace(other, id="n_x", text="a\0b")))


async def test_a_link_is_one_way_and_kept_once(store: Store) -> None:
    await store.write(setup)
    made = Link(TALK, OTHER, "human@host:000001", Millis(3))
    await store.write(lambda tx: tx.links.keep(made))
    await store.write(lambda tx: tx.links.keep(replace(made, at=Millis(4))))
    assert list(await store.read(lambda tx: tx.links.of(TALK))) == [replace(made, at=Millis(4))]
    assert not await store.read(lambda tx: tx.links.of(OTHER))
    assert await store.read(lambda tx: tx.links.get(OTHER, TALK)) is None
    assert await store.write(lambda tx: tx.links.drop(TALK, OTHER))
    assert await store.read(lambda tx: tx.links.get(TALK, OTHER)) is None


async def test_a_link_needs_both_conversations(store: Store) -> None:
    await store.write(setup)
    missing = Link(TALK, ConversationId("c_no"), "human@host:000001", Millis(3))
    with pytest.raises(base.MufakatError):
        await store.write(lambda tx: tx.links.keep(missing))


async def test_how_far_a_session_was_taken_over_is_kept(store: Store) -> None:
    await store.write(setup)
    begun = Imported(PROJECT, "claude", "s-1", TALK, 0, "aa", Millis(1))
    further = replace(begun, turns=7, digest="bb")
    await store.write(lambda tx: tx.imports.keep(begun))
    await store.write(lambda tx: tx.imports.keep(further))
    assert list(await store.read(lambda tx: tx.imports.of(PROJECT))) == [further]
    assert not await store.read(lambda tx: tx.imports.of(ProjectId("p_2")))
