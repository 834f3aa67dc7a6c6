"""Sending: on disk with its deliveries or not at all, once per key, to whoever the names mean."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from mufakat.core import secrets
from mufakat.core.base import (
    IdempotencyConflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    Superseded,
    TooMany,
)
from mufakat.core.coordination.flood import Rate, Rates
from mufakat.core.coordination.sending import Sending
from mufakat.core.talk.message import Kind
from mufakat.services import talk
from mufakat.services.coordination.mailbox import Inbox
from services.coordination.mail.conftest import ANN, BOB, CAT, OPERATOR, PERSON, Office, by

pytestmark = pytest.mark.anyio


async def test_a_message_is_one_row_of_the_projects_room_with_its_delivery(office: Office) -> None:
    sent = await office.send(ANN, BOB, "the tests are red")
    found = await office.store.read(
        lambda tx: (tx.messages.get(sent.message), tx.conversations.get(sent.conversation))
    )
    said, room = found
    assert (said.kind, said.speaker, said.text) == (Kind.AGENT, ANN, "the tests are red")
    assert room.title == "Room"
    assert await office.texts(BOB) == ["the tests are red"]
    assert await office.statuses(BOB) == ["queued"]
    again = await office.send(BOB, ANN, "which ones?")
    assert again.conversation == sent.conversation


async def test_a_persons_message_is_a_persons(office: Office) -> None:
    sent = await office.send(PERSON, BOB, project=office.project)
    said = await office.store.read(lambda tx: tx.messages.get(sent.message))
    assert said.kind is Kind.PERSON


async def test_case_030_the_same_key_is_one_message_whatever_happens(office: Office) -> None:
    receipts = await asyncio.gather(*[office.send(ANN, BOB, key="same") for _ in range(8)])
    assert len({one.message for one in receipts}) == 1
    assert sorted(one.duplicate for one in receipts) == [False] + [True] * 7
    assert len(await office.rows(BOB)) == 1
    with pytest.raises(IdempotencyConflict):
        await office.send(ANN, BOB, "other words", key="same")
    assert not (await office.send(CAT, BOB, key="same")).duplicate


async def test_m1_a_retry_long_after_is_still_the_same_message(office: Office) -> None:
    first = await office.send(ANN, BOB, key="same")
    await office.pass_time(86_400)
    again = await office.send(ANN, BOB, key="same")
    assert (again.message, again.duplicate, again.recipients) == (first.message, True, (BOB,))


async def test_the_same_words_under_another_key_are_one_message_for_a_minute(
    office: Office,
) -> None:
    first = await office.send(ANN, BOB, "same")
    assert (await office.send(ANN, BOB, "same")).message == first.message
    assert not (await office.send(ANN, CAT, "same")).duplicate
    await office.pass_time(61)
    assert not (await office.send(ANN, BOB, "same")).duplicate


async def test_names_are_identities_prefixes_aliases_and_roles(office: Office) -> None:
    await office.join("codex@host:dddddd", role="review", alias="Rita")
    for name in ("codex@host:dddddd", "codex@host:d", "Rita", "role:review"):
        sent = await office.send(ANN, name, f"to {name}")
        assert sent.recipients == ("codex@host:dddddd",)
    assert len(await office.rows("codex@host:dddddd")) == 4


async def test_a_role_reaches_everybody_in_it_but_the_sender(office: Office) -> None:
    team = [f"codex@host:{n:06x}" for n in range(3)]
    for name in team:
        await office.join(name, role="build")
    sent = await office.send(team[0], "role:build")
    assert set(sent.recipients) == set(team[1:])


async def test_a_topic_reaches_those_who_follow_the_thread(office: Office) -> None:
    thread = await talk.Talk(office.store, secrets.scrub, person=PERSON).start(
        office.project, "Release"
    )
    await office.follow(BOB, thread.id)
    sent = await office.send(ANN, "topic:release", "it is out")
    assert (sent.recipients, sent.conversation) == ((BOB,), thread.id)


async def test_row_29_an_unknown_name_stores_nothing_and_offers_the_nearest(
    office: Office,
) -> None:
    await office.join("codex@host:dddddd", alias="reviewer")
    before = await office.store.read(lambda tx: tx.events.head())
    with pytest.raises(NotFound) as caught:
        await office.send(ANN, (BOB, "reviwer"))
    assert caught.value.detail["nearest"] == ["reviewer"]
    assert await office.store.read(lambda tx: tx.events.head()) == before
    assert await office.rows(BOB) == []
    for nobody in ("role:nobody", "topic:nothing"):
        with pytest.raises(NotFound):
            await office.send(ANN, nobody)


async def test_row_29_a_role_of_more_than_64_is_refused(office: Office) -> None:
    for n in range(65):
        await office.join(f"codex@host:{n:06x}", role="crowd")
    with pytest.raises(InvalidInput):
        await office.send(ANN, "role:crowd")


async def test_a_held_message_waits_for_who_joins_under_that_name(office: Office) -> None:
    sent = await office.send(ANN, "Nora", "welcome", hold=True)
    assert (sent.recipients, sent.held) == ((), ("Nora",))
    await office.join("codex@host:dddddd", alias="Nora")
    assert await office.texts("codex@host:dddddd") == ["welcome"]
    await office.join("codex@host:eeeeee", alias="Nora")
    assert await office.texts("codex@host:eeeeee") == []


async def test_a_held_message_expires_after_a_week_and_its_sender_knows(office: Office) -> None:
    await office.send(ANN, "role:nobody", "anybody?", hold=True)
    await office.pass_time(7 * 86_400 + 1)
    assert "expired unread by role:nobody" in (await office.texts(ANN))[0]
    await office.join("codex@host:dddddd", role="nobody")
    assert await office.texts("codex@host:dddddd") == []


async def test_nobody_writes_to_itself(office: Office) -> None:
    with pytest.raises(InvalidInput):
        await office.send(ANN, ANN)


async def test_a_thread_of_another_project_is_closed(office: Office, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    thread = await talk.Talk(office.store, secrets.scrub, person=PERSON).start(str(other), "theirs")
    with pytest.raises(NotAllowed):
        await office.send(ANN, BOB, thread=thread.id)


async def test_a_session_of_the_past_sends_nothing(office: Office) -> None:
    await office.store.write(lambda tx: tx.instances.keep(_older(tx, ANN)))
    with pytest.raises(Superseded):
        await office.send(ANN, BOB)


def _older(tx, name):
    return dataclasses.replace(tx.instances.get(name), epoch=2)


async def test_who_sends_too_much_is_told_how_long_to_wait(office: Office) -> None:
    narrow = Inbox(office.store, secrets.scrub, rates=Rates(Rate(3, 0.5)))

    async def send(n: int, to: str) -> None:
        await narrow.send(by(ANN), Sending((to,), body=f"{to} {n}"), key=f"{to}-{n}")

    for n in range(3):
        await send(n, BOB)
    with pytest.raises(TooMany) as caught:
        await send(3, BOB)
    assert caught.value.detail["retry_after"] == 2.0
    await send(0, CAT)
    office.clock.elapsed_ms += 2_000
    await send(3, BOB)
    for n in range(10):
        await narrow.send(
            OPERATOR, Sending((BOB,), body=f"p {n}", project=office.project), key=f"p{n}"
        )


async def test_secrets_are_not_told_on(office: Office) -> None:
    token = "ghp_" + "a1B2" * 9
    sent = await office.send(ANN, BOB, f"use {token}")
    said = await office.store.read(lambda tx: tx.messages.get(sent.message))
    assert said.secrets == ("github-token",)
    assert token not in (await office.texts(BOB))[0]
    assert token not in (await office.stop(BOB)).reason


async def test_replies_mark_what_they_answer_for_the_one_who_answers(office: Office) -> None:
    asked = await office.send(ANN, (BOB, CAT), "who?", intent="request")
    answered = await office.send(BOB, (), "me", reply_to=asked.message)
    assert answered.recipients == (ANN,)
    assert await office.statuses(BOB) == ["answered"]
    assert await office.statuses(CAT) == ["queued"]
    assert (await office.instance(BOB)).acked == 1


async def test_an_answer_of_somebody_who_was_not_asked_settles_nothing(office: Office) -> None:
    asked = await office.send(ANN, BOB, "who?", intent="request")
    await office.send(CAT, ANN, "Bob, I think", reply_to=asked.message)
    assert await office.statuses(BOB) == ["queued"]


async def test_g8_two_agents_that_only_answer_each_other_stop_holding_each_other(
    office: Office,
) -> None:
    last, hops = (await office.send(ANN, BOB, "ping 0")).message, []
    for n in range(1, 14):
        who, to = (BOB, ANN) if n % 2 else (ANN, BOB)
        last = (await office.send(who, to, f"ping {n}", reply_to=last)).message
        hops.append((await office.store.read(lambda tx, id=last: tx.inbox.envelope(id))).hops)
    assert hops == list(range(1, 14))
    room = (await office.letters(ANN))[0].envelope.conversation
    await office.say(room, "enough, both of you")
    fresh = await office.send(ANN, BOB, "yes")
    assert (await office.store.read(lambda tx: tx.inbox.envelope(fresh.message))).hops == 1
