"""What every store keeps so that what was said is found again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipment import store_records as make
from equipment.store_records import TALK
from mufakat.core.base import ConversationId, MessageId, ProjectId
from mufakat.core.knowledge import indexing, posting
from mufakat.core.knowledge.indexing import Behind
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.ports.store import Store, Transaction
from mufakat.storage import recall as queries

pytestmark = pytest.mark.anyio
OTHER = ConversationId("c_2")
TEXTS = ("The port is 8123.", "Why that port?", "Because 端口 is free: see parser_config.")


def say(tx: Transaction, conversation: ConversationId, place: int, text: str) -> None:
    draft = message.draft(Kind.PERSON, "ada@h:1", text=text)
    tx.messages.append(conversation, draft, id=MessageId(f"m_{conversation}_{place:03}"))


def filled(tx: Transaction) -> None:
    make.setup(tx)
    tx.conversations.add(make.conversation(OTHER))
    for place, text in enumerate(TEXTS, 1):
        say(tx, TALK, place, text)
        say(tx, OTHER, place, f"Elsewhere: {text}")


def project(tx: Transaction) -> ProjectId:
    found = tx.conversations.get(TALK)
    assert found is not None
    return found.project


def index(tx: Transaction, *, limit: int = 100) -> list[bool]:
    done = []
    for one in tx.recall.behind(project(tx), limit=limit):
        page = tx.messages.page(one.conversation, after=one.indexed, limit=limit)
        done.append(tx.recall.add(one, [indexing.turn(said, one.fence) for said in page]))
    return done


async def test_what_is_not_indexed_yet_is_known(store: Store) -> None:
    await store.write(filled)
    behind = await store.read(lambda tx: tx.recall.behind(project(tx), limit=10))
    assert [(one.conversation, one.indexed, one.messages) for one in behind] == [
        (TALK, 0, 3),
        (OTHER, 0, 3),
    ]
    assert await store.write(index) == [True, True]
    assert await store.read(lambda tx: tx.recall.behind(project(tx), limit=10)) == []


async def test_terms_lead_to_turns_and_turns_to_messages(store: Store) -> None:
    await store.write(filled)
    await store.write(index)

    def query(tx: Transaction) -> None:
        found = tx.recall.entries(project(tx), ["port", "zanzibar", "端口", "parser_config"])
        assert {term: len(some) for term, some in found.items()} == {
            "port": 4,
            "端口": 2,
            "parser_config": 2,
        }
        turns = tx.recall.turns([one >> posting.TURN_SHIFT for one in found["端口"]])
        assert {one.message for one in turns.values()} == {"m_c_1_003", "m_c_2_003"}
        owners = tx.recall.threads([posting.ordinal_of(turn) for turn in turns])
        assert {(one.conversation, one.talk) for one in owners.values()} == {
            (TALK, 3),
            (OTHER, 3),
        }
        assert set(tx.recall.ordinals([TALK, ConversationId("c_none")])) == {TALK}
        scope = tx.recall.scope(project(tx))
        assert (scope.turns, scope.speakers) == (6, ("ada@h:1",))

    await store.read(query)


async def test_one_message_at_a_time_comes_to_the_same(store: Store) -> None:
    await store.write(filled)
    while await store.write(lambda tx: index(tx, limit=1)):
        pass
    found = await store.read(lambda tx: tx.recall.entries(project(tx), ["port"]))
    places = sorted((one >> posting.TURN_SHIFT) % posting.POSITIONS for one in found["port"])
    assert places == [0, 0, 1, 1]
    assert (await store.read(lambda tx: tx.recall.scope(project(tx)))).turns == 6


async def test_who_comes_second_adds_nothing(store: Store) -> None:
    await store.write(filled)
    behind = await store.read(lambda tx: tx.recall.behind(project(tx), limit=10))

    def again(tx: Transaction, one: Behind) -> bool:
        page = tx.messages.page(one.conversation, after=0, limit=10)
        return tx.recall.add(one, [indexing.turn(said, one.fence) for said in page])

    assert await store.write(lambda tx: again(tx, behind[0]))
    assert not await store.write(lambda tx: again(tx, behind[0]))
    found = await store.read(lambda tx: tx.recall.entries(project(tx), ["port"]))
    assert len(found["port"]) == 2


async def test_terms_go_on_in_new_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SEGMENT", 1)
    await store.write(filled)
    while await store.write(lambda tx: index(tx, limit=1)):
        pass
    found = await store.read(lambda tx: tx.recall.entries(project(tx), ["port", "elsewher"]))
    assert (len(found["port"]), len(found["elsewher"])) == (4, 3)


async def test_another_project_has_an_index_of_its_own(store: Store) -> None:
    def both(tx: Transaction) -> ProjectId:
        filled(tx)
        other = tx.projects.ensure("/other", "other", id=ProjectId("p_other"))
        thread = replace(make.conversation(ConversationId("c_9")), project=other.id)
        say(tx, tx.conversations.add(thread).id, 1, "The port of another project.")
        return other.id

    other = await store.write(both)
    await store.write(index)
    assert (await store.read(lambda tx: tx.recall.scope(other))).turns == 0
    assert await store.read(lambda tx: tx.recall.entries(other, ["port"])) == {}


async def test_a_check_sees_that_index_and_messages_agree(store: Store) -> None:
    await store.write(filled)
    await store.write(lambda tx: index(tx, limit=2))
    assert (await store.check(deep=True)).problems == ()


async def test_twin_terms_that_are_missing_are_noticed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries.Recall, "_keep_terms", lambda *_, **__: None)
    await store.write(filled)
    await store.write(index)
    problems = (await store.check(deep=True)).problems
    assert any("differs from the messages" in one for one in problems), problems


async def test_twin_a_cursor_that_runs_ahead_is_noticed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = queries.Recall._place

    def ahead(self: queries.Recall, thread, turns):  # type: ignore[no-untyped-def]
        return kept(self, thread, [*turns, replace(turns[-1], number=turns[-1].number + 1)])[:-1]

    monkeypatch.setattr(queries.Recall, "_place", ahead)
    await store.write(filled)
    await store.write(index)
    problems = (await store.check()).problems
    assert "the index of what was said is ahead of a conversation" in problems
