"""Digests over the store: each thing is told once, to whom it concerns, and only when confirmed."""

from __future__ import annotations

import dataclasses

import pytest

from equipment import coordination_records as records
from mufakat.core.base import NotFound
from mufakat.core.coordination.state import State
from mufakat.core.coordination.waiting import Action, Condition, Reaction
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.services import talk
from mufakat.services.coordination import context
from services.coordination.mail.conftest import ANN, BOB, CAT, OPERATOR, PERSON, Office, by

pytestmark = pytest.mark.anyio


async def digest(office: Office, who: str = BOB, **more) -> str:
    return (await office.context.digest(by(who), shown=True, **more)).text


async def test_nothing_new_is_nothing(office: Office) -> None:
    assert await digest(office) == ""


async def test_a_letter_is_told_once_and_only_when_it_was_confirmed(office: Office) -> None:
    await office.send(ANN, BOB, "the port is 8080")
    for _ in range(2):
        told = await office.context.digest(by(BOB))
        assert "the port is 8080" in told.text
        assert await office.statuses(BOB) == ["queued"]
    await office.context.confirm(by(BOB), told)
    assert await office.statuses(BOB) == ["shown"]
    assert await digest(office) == ""


async def test_a_thread_is_told_from_the_cursor_on_peoples_words_included(office: Office) -> None:
    sent = await office.send(ANN, CAT, "let us use SQLite")
    await office.follow(BOB, sent.conversation)
    await office.say(sent.conversation, "agreed, says the person")
    told = await digest(office)
    assert "let us use SQLite" in told
    assert "agreed, says the person" in told
    assert PERSON in told
    assert await digest(office) == ""
    await office.say(sent.conversation, "one more thing")
    told = await digest(office)
    assert "one more thing" in told
    assert "SQLite" not in told


async def test_calls_of_tools_do_not_hide_what_was_said(office: Office) -> None:
    sent = await office.send(ANN, CAT, "let us use SQLite")
    await office.follow(BOB, sent.conversation)

    def work(tx) -> None:
        for n in range(30):
            draft = message.draft(Kind.TOOL_RESULT, CAT, text=f"line {n}")
            talk.append(tx, sent.conversation, draft)

    await office.store.write(work)
    told = await digest(office)
    assert "let us use SQLite" in told
    assert "line 29" not in told


async def test_ones_own_words_and_mufakats_notices_to_others_are_no_news(office: Office) -> None:
    sent = await office.send(BOB, CAT, "mine", intent="request", deadline_seconds=5)
    await office.pass_time(6)
    await office.follow(CAT, sent.conversation)
    await digest(office, CAT)
    assert "deadline" in await digest(office, BOB)
    assert await digest(office, CAT) == ""


async def test_a_letter_in_a_followed_thread_is_told_once(office: Office) -> None:
    sent = await office.send(ANN, BOB, "only once")
    await office.follow(BOB, sent.conversation)
    assert (await digest(office)).count("only once") == 1
    assert await digest(office) == ""


async def test_decisions_of_others_are_named_as_such(office: Office) -> None:
    sent = await office.send(ANN, CAT, "we ship on Monday", intent="decision")
    await office.follow(BOB, sent.conversation)
    assert f"decision of {ANN}\nwe ship on Monday" in await digest(office)


async def test_a_long_letter_is_begun_once_and_read_on_from_the_inbox(office: Office) -> None:
    await office.send(ANN, BOB, "long " * 1_000)
    told = await office.context.digest(by(BOB), budget=1_500, shown=True)
    assert told.begun == (1,)
    assert await office.statuses(BOB) == ["queued"]
    assert await digest(office, budget=1_500) == ""
    assert len((await office.inbox.claim(by(BOB), limit=1))[0].text) == 5_000
    assert await office.inbox.ack(by(BOB), upto=1) == 1


async def test_what_stands_is_told_when_it_changes_and_whole_when_asked(office: Office) -> None:
    await office.notices.set(by(ANN), "staging", "staging is down")
    assert "notice staging" in await digest(office)
    assert await digest(office) == ""
    assert "notice staging" in await digest(office, since="0")
    await office.notices.set(by(ANN), "staging", "staging is up")
    assert "staging is up" in await digest(office)


async def test_a_notice_is_gone_when_its_time_is_over(office: Office) -> None:
    await office.notices.set(by(ANN), "staging", "down", ttl_seconds=60)
    await office.pass_time(61)
    assert await digest(office) == ""


async def test_leases_of_others_in_the_project_are_told(office: Office) -> None:
    def grant(tx) -> None:
        lease = records.grant(tx, "l_1", "file:/x/a.py", holder=ANN, reason="refactoring")
        tx.events.record(_granted(lease.id))

    await office.store.write(grant)
    assert f"{ANN} holds (exclusive)\nfile:/x/a.py: refactoring" in await digest(office)
    assert await digest(office, ANN) == ""
    assert await digest(office) == ""


def _granted(id: str):
    from mufakat.core.base import Event

    return Event("lease.granted", id, {})


async def test_states_that_are_waited_for_are_told(office: Office) -> None:
    def rule(tx) -> None:
        place = tx.instances.get(BOB).project
        wanted = Condition(ANN, frozenset({State.IDLE}))
        said = (("body", "x"), ("to", CAT))
        tx.reactions.keep(Reaction("x_1", place, BOB, wanted, Action.SEND, said, once=False))

    await office.store.write(rule)
    await digest(office)
    await office.stop(ANN)
    assert f"{ANN} is idle" in await digest(office)


async def test_only_a_thread_or_since_a_revision(office: Office) -> None:
    sent = await office.send(ANN, CAT, "in the room")
    await office.follow(BOB, sent.conversation)
    with pytest.raises(NotFound):
        await office.context.digest(by(BOB), thread="c_none")
    told = await office.context.digest(by(BOB), thread=sent.conversation)
    assert "in the room" in told.text
    await office.notices.set(by(ANN), "staging", "down")
    head = told.revision
    epoch = await office.store.read(lambda tx: tx.events.epoch())
    assert "staging" in (await office.context.digest(by(BOB), since=f"{epoch}-{head}")).text
    assert "staging" in (await office.context.digest(by(BOB), since="nonsense")).text


async def test_the_person_has_an_inbox_and_a_digest_too(office: Office) -> None:
    await office.join(PERSON, project=None)
    await office.send(ANN, PERSON, "may I?", intent="request")
    told = await office.context.digest(OPERATOR, shown=True)
    assert "may I?" in told.text
    assert await office.inbox.ack(OPERATOR, numbers=(1,)) == 1


async def test_a_stranger_has_no_news(office: Office) -> None:
    found = await office.store.read(
        lambda tx: context.news(tx, "codex@host:ffffff", 1_500, scrub=lambda text: None)
    )
    assert not found.unread


async def test_a_newer_session_is_told_what_stands_again(office: Office) -> None:
    await office.notices.set(by(ANN), "staging", "down")
    await digest(office)

    def resume(tx) -> None:
        tx.instances.keep(dataclasses.replace(tx.instances.get(BOB), epoch=2))

    await office.store.write(resume)
    told = await office.context.digest(by(BOB, 2), shown=True)
    assert "staging" in told.text


@pytest.mark.parametrize("budget", [0, 1, 60, 300, 1_500, 8_000])
async def test_the_budget_is_kept_whatever_there_is(office: Office, budget: int) -> None:
    for n in range(60):
        await office.send(ANN, BOB, f"{n} " + "x" * (n * 40), intent="request")
    for n in range(20):
        await office.notices.set(by(CAT), f"key{n}", "y" * 200)
    told = await office.context.digest(by(BOB), budget=budget)
    assert len(told.text) <= budget
    if budget >= 1_500:
        assert len(told.text) > 0.7 * budget
        assert told.left_out
