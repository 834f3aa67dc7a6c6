"""What every store keeps of branches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipment import store_records as make
from equipment.store_records import PROJECT, TALK, number
from mufakat.core.base import ConversationId, MessageId, Millis, NotFound, ProjectId
from mufakat.core.knowledge.link import Link
from mufakat.core.talk.branch import Branch, Status
from mufakat.ports.store import Store, Transaction

from .conftest import Open

pytestmark = pytest.mark.anyio
WHO = "person@host:abcdef"
SIDE, INNER = ConversationId("c_2"), ConversationId("c_3")
ONE = Branch(SIDE, TALK, number(1), 1, 1, PROJECT, WHO, Millis(5), Millis(5))
TWO = Branch(INNER, SIDE, number(2), 1, 2, PROJECT, WHO, Millis(6), Millis(6))


def build(tx: Transaction) -> None:
    make.setup(tx)
    for id in (SIDE, INNER):
        tx.conversations.add(make.conversation(id))
    tx.messages.append(TALK, make.say("first"), id=number(1))
    tx.messages.append(SIDE, make.say("second"), id=number(2))
    tx.branches.keep(ONE)
    tx.branches.keep(TWO)


def ids(tx: Transaction) -> list[str]:
    return [one.id for one in tx.conversations.list()]


async def test_branches_are_found_by_themselves_their_parent_and_their_project(
    store: Store,
) -> None:
    await store.write(build)
    assert await store.read(lambda tx: tx.branches.get(SIDE)) == ONE
    assert await store.read(lambda tx: tx.branches.get(TALK)) is None
    assert await store.read(lambda tx: list(tx.branches.of(TALK))) == [ONE]
    assert await store.read(lambda tx: list(tx.branches.of(INNER))) == []
    assert await store.read(lambda tx: dict(tx.branches.every(PROJECT))) == {SIDE: ONE, INNER: TWO}
    assert await store.read(lambda tx: dict(tx.branches.every(ProjectId("p_2")))) == {}


async def test_how_a_branch_stands_is_replaced_and_where_it_came_from_stays(store: Store) -> None:
    await store.write(build)
    adopted = replace(
        ONE, status=Status.ADOPTED, summary=number(1), summary_number=1, changed=Millis(9)
    )
    await store.write(lambda tx: tx.branches.keep(adopted))
    assert await store.read(lambda tx: tx.branches.get(SIDE)) == adopted
    assert await store.read(lambda tx: len(tx.branches.of(TALK))) == 1


@pytest.mark.parametrize(("status", "found"), [(Status.ARCHIVED, True), (Status.DELETED, False)])
async def test_lists_leave_out_what_is_put_away(store: Store, status: Status, found: bool) -> None:
    await store.write(build)
    assert await store.read(ids) == [INNER, SIDE, TALK]
    await store.write(lambda tx: tx.branches.keep(replace(ONE, status=status)))
    assert await store.read(ids) == [INNER, TALK]
    pages = await store.read(lambda tx: [tx.conversations.list(limit=1, before=INNER)[0].id])
    assert pages == [TALK]
    by_project = await store.read(lambda tx: tx.conversations.list(project=PROJECT))
    assert [one.id for one in by_project] == [INNER, TALK]
    by_prefix = await store.read(lambda tx: [one.id for one in tx.conversations.find("c_2")])
    assert by_prefix == ([SIDE] if found else [])


async def test_links_to_what_was_deleted_are_not_read(store: Store) -> None:
    await store.write(build)
    link = Link(TALK, SIDE, WHO, Millis(1))
    await store.write(lambda tx: tx.links.keep(link))
    assert await store.read(lambda tx: list(tx.links.of(TALK))) == [link]
    await store.write(lambda tx: tx.branches.keep(replace(ONE, status=Status.DELETED)))
    assert await store.read(lambda tx: list(tx.links.of(TALK))) == []
    assert await store.read(lambda tx: tx.links.get(TALK, SIDE)) is None


async def test_a_conversation_is_renamed(store: Store) -> None:
    await store.write(build)
    await store.write(lambda tx: tx.conversations.rename(SIDE, "Añother 名"))
    named = await store.read(lambda tx: tx.conversations.get(SIDE))
    assert named is not None and named.title == "Añother 名"
    with pytest.raises(NotFound):
        await store.write(lambda tx: tx.conversations.rename(ConversationId("c_9"), "x"))


async def test_a_branch_of_a_message_that_is_not_there_is_not_kept(store: Store) -> None:
    await store.write(make.setup)
    await store.write(lambda tx: tx.conversations.add(make.conversation(SIDE)))
    with pytest.raises(Exception):  # noqa: B017, PT011 - each database says it its own way
        await store.write(lambda tx: tx.branches.keep(replace(ONE, checkpoint=MessageId("m_x"))))
    assert await store.read(lambda tx: tx.branches.get(SIDE)) is None


async def test_branches_outlive_a_restart(open_store: Open) -> None:
    store = await open_store(None)
    await store.write(build)
    await store.close()
    again = await open_store(None)
    assert await again.read(lambda tx: tx.branches.get(INNER)) == TWO
    await again.close()
