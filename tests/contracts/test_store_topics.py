"""What every store keeps of compressed memories."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipment import store_records as make
from equipment.store_records import TALK, number, say
from mufakat.core.base import ConversationId, Millis
from mufakat.core.knowledge.topic import Line, Source, Topic
from mufakat.core.talk.message import Kind
from mufakat.ports.store import Store, Transaction

pytestmark = pytest.mark.anyio
OTHER = ConversationId("c_2")


def line(topic: int, place: int, text: str = "The port is 8123.", **more: object) -> Line:
    fields: dict[str, object] = {
        "speaker": "claude@h:abcdef",
        "sources": (Source(number(place), place),),
        "text": text,
        "at": Millis(7),
        "worth": 1.5 + place,
    }
    return Line(TALK, topic, place, **{**fields, **more})  # type: ignore[arg-type]


def topic(place: int, **more: object) -> Topic:
    fields: dict[str, object] = {
        "title": f"title {place}",
        "first": place,
        "last": place + 5,
        "created": Millis(3),
        "updated": Millis(4),
    }
    return Topic(**{"conversation": TALK, "number": place, **fields, **more})  # type: ignore[arg-type]


def filled(tx: Transaction) -> None:
    make.setup(tx)
    tx.conversations.add(make.conversation(OTHER))
    for place in (1, 2, 3):
        tx.topics.keep(topic(place))
        for at in (1, 2):
            tx.topics.keep_line(line(place, at, f"Topic {place}, line {at}: ünï_100% 端口."))
    tx.topics.keep(topic(1, conversation=OTHER))


async def test_topics_come_back_with_their_lines_in_order(store: Store) -> None:
    await store.write(filled)
    found = await store.read(lambda tx: tx.topics.list(TALK))
    assert [(one.number, [each.id for each in one.lines]) for one in found] == [
        (1, ["1.1", "1.2"]),
        (2, ["2.1", "2.2"]),
        (3, ["3.1", "3.2"]),
    ]
    assert found[0].lines[0] == line(1, 1, "Topic 1, line 1: ünï_100% 端口.")
    assert replace(found[1], lines=()) == topic(2)
    page = await store.read(lambda tx: tx.topics.list(TALK, after=1, limit=1))
    assert list(page) == [found[1]]
    assert await store.read(lambda tx: tx.topics.newest(TALK)) == found[2]
    assert await store.read(lambda tx: tx.topics.get(TALK, 2)) == found[1]
    assert await store.read(lambda tx: tx.topics.get(TALK, 9)) is None
    assert await store.read(lambda tx: tx.topics.newest(ConversationId("c_no"))) is None
    heads = await store.read(lambda tx: tx.topics.heads(TALK, [3, 1, 9]))
    assert sorted(heads, key=lambda one: one.number) == [topic(1), topic(3)]
    assert not await store.read(lambda tx: tx.topics.heads(TALK, []))


async def test_what_changes_of_a_topic_and_a_line_is_kept(store: Store) -> None:
    await store.write(filled)
    changed = topic(2, title="other", last=40, updated=Millis(9), revoked="human@h:1")
    old = line(1, 1, superseded_by="2.1", revoked="human@h:1")

    def step(tx: Transaction) -> None:
        tx.topics.keep(changed)
        tx.topics.keep_line(old)
        tx.topics.drop_line(line(1, 2))

    await store.write(step)
    got = await store.read(lambda tx: tx.topics.get(TALK, 2))
    assert got is not None and replace(got, lines=()) == changed and len(got.lines) == 2
    first = await store.read(lambda tx: tx.topics.get(TALK, 1))
    assert first is not None and first.lines == (old,)
    assert await store.read(lambda tx: tx.topics.line(TALK, "1.1")) == old
    assert await store.read(lambda tx: tx.topics.line(TALK, "1.2")) is None
    assert await store.read(lambda tx: tx.topics.line(OTHER, "1.1")) is None


async def test_ranks_are_given_anew_each_time(store: Store) -> None:
    await store.write(filled)
    await store.write(lambda tx: tx.topics.rank(TALK, ["3.2", "1.1"]))
    await store.write(lambda tx: tx.topics.rank(TALK, ["2.1", "3.2"]))
    found = await store.read(lambda tx: tx.topics.ranked(TALK))
    assert [(one.id, one.rank) for one in found] == [("2.1", 1), ("3.2", 2)]
    assert not await store.read(lambda tx: tx.topics.ranked(OTHER))


async def test_the_best_are_live_and_of_most_worth(store: Store) -> None:
    await store.write(filled)
    await store.write(lambda tx: tx.topics.keep_line(line(3, 2, superseded_by="3.9")))
    await store.write(lambda tx: tx.topics.keep_line(line(2, 2, revoked="human@h:1")))
    found = await store.read(lambda tx: tx.topics.best(TALK, limit=3))
    assert [one.id for one in found] == ["1.2", "3.1", "2.1"]
    taken = await store.read(lambda tx: tx.topics.revoked(TALK, limit=3))
    assert [one.id for one in taken] == ["2.2"]


async def test_lines_are_found_by_words_whatever_they_hold(store: Store) -> None:
    await store.write(filled)
    await store.write(lambda tx: tx.topics.keep_line(line(2, 2, "Ünï again", revoked="human@h:1")))
    await store.write(lambda tx: tx.topics.keep_line(line(2, 3, "old", superseded_by="3.1")))

    async def ids(*words: str, limit: int = 50) -> list[str]:
        return [
            one.id for one in await store.read(lambda tx: tx.topics.find(TALK, words, limit=limit))
        ]

    assert await ids("ÜNÏ_100%") == ["3.2", "3.1", "2.1", "1.2", "1.1"]
    assert await ids("端口", limit=2) == ["3.2", "3.1"]
    assert await ids("topic 1", "no such") == ["1.2", "1.1"]
    assert await ids("OLD") == ["2.3"]
    assert await ids("%") == await ids("100%")
    assert await ids("_1") and not await ids("x_1", "\\", "'; DROP TABLE topics; --")
    assert not await ids()
    assert not await ids("")
    assert await ids(*(f"none{n}" for n in range(20))) == []


async def test_talk_is_what_people_and_agents_said(store: Store) -> None:
    def step(tx: Transaction) -> None:
        make.setup(tx)
        kinds = [Kind.PERSON, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT, Kind.PERSON]
        for n, kind in enumerate(kinds, start=1):
            tx.messages.append(TALK, say("x" * 10 + str(n), kind=kind), id=number(n))

    await store.write(step)

    async def numbers(**how: int) -> list[int]:
        asked = {"after": 0, "limit": 50, "clip": 4_000, **how}
        return [one.number for one in await store.read(lambda tx: tx.messages.talk(TALK, **asked))]

    assert await numbers() == [1, 4, 5]
    assert await numbers(after=1) == [4, 5]
    assert await numbers(limit=2) == [1, 4]
    (clipped,) = await store.read(lambda tx: tx.messages.talk(TALK, after=4, limit=1, clip=8))
    assert clipped.text == "xxxxxxx5"[:6] + "x5" and not clipped.whole
