"""A turn from acceptance to end: what is stored, announced, resumed, cancelled, retried."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.core.base import (
    Conflict,
    DoesNotFit,
    EngineMissing,
    EngineUnknown,
    IdempotencyConflict,
    InvalidInput,
    NotFound,
    TooLarge,
)
from mufakat.core.pack import deliver
from mufakat.core.talk import stream
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.message import Kind
from mufakat.core.talk.stream import ToolStatus
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.ports.engine import Capabilities
from mufakat.services.request import Ask
from mufakat.settings import load
from services.conftest import INLINE, SPLIT, House, Puppet, answers

pytestmark = pytest.mark.anyio


async def events(house: House, kind: str = "") -> list:
    found = await house.app.feed.after(0, limit=1_000)
    return [event for event in found if kind in {"", event.kind}]


async def test_a_question_is_answered_stored_and_accounted_for(house: House) -> None:
    turn = await house.ask("What is this project?", engine="scripted")
    assert turn.status is Status.DONE
    answer = await house.app.talk.message(turn.answer)
    assert "demo" in answer.text
    assert answer.speaker == turn.identity
    pack = await house.app.packs.get(turn.pack)
    assert pack.turn == turn.id
    system, user = await house.app.packs.sent(pack)
    assert system == ""
    assert user.endswith("What is this project?")
    kinds = [one.kind for one in await events(house) if not one.kind.startswith("agent.")]
    assert kinds[:4] == ["project.added", "conversation.added", "message.added", "turn.queued"]
    assert kinds[-1] == "turn.ended"
    text = "".join(event.data["text"] for event in await events(house, "turn.text"))
    assert text == answer.text


async def test_every_agent_sees_what_the_other_said(house: House) -> None:
    one, other = Puppet("one", answers, SPLIT), Puppet("two", answers, INLINE)
    house.seat(one, other)
    first = await house.ask("Choose a database.", engine="one")
    await house.ask("What did they choose?", engine="two", conversation=first.conversation)
    told = other.runs[0].delivery.user
    pack = await house.app.packs.get("last")
    assert pack.instructions == (str(house.project / "PUPPET.md"),)
    answer = await house.app.talk.message(first.answer)
    assert answer.text in told
    assert first.identity in told
    assert "Choose a database." in told


async def test_an_agent_keeps_its_identity_and_its_session(house: House) -> None:
    puppet = Puppet("one", answers, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    second = await house.ask("Second.", engine="one", conversation=first.conversation)
    assert first.identity == second.identity
    assert puppet.runs[1].resume == f"session-{first.id}"
    assert puppet.runs[1].delivery.system == puppet.runs[0].delivery.system
    assert puppet.runs[1].delivery.user == "Second."
    pack = await house.app.packs.get(second.pack)
    assert pack.resumed
    third = await house.ask("Third.", engine="one", conversation=first.conversation, fresh=True)
    assert puppet.runs[2].resume == ""
    assert "a fresh session" in (await house.app.packs.get(third.pack)).resume_why


async def test_a_resumed_session_was_told_all_that_a_fresh_one_is_told(house: House) -> None:
    one, other = Puppet("one", answers, SPLIT), Puppet("two", answers, INLINE)
    house.seat(one, other)
    first = await house.ask("First.", engine="one")
    await house.ask("Between.", engine="two", conversation=first.conversation)
    await house.ask("Last.", engine="one", conversation=first.conversation)
    resumed = one.runs[1].delivery
    assert "Between." in resumed.user
    assert "First." not in resumed.user
    ask = Ask("Last.", str(house.project), first.conversation, engine="one")
    preview = await house.app.turns.preview(ask)
    assert preview.resume_why == "resumed"
    assert "Between." not in preview.user
    assert deliver.NEWS in resumed.user


async def test_case_059_a_session_the_engine_lost_gets_a_fresh_one_and_the_whole_pack(
    house: House,
) -> None:
    async def forgetful(run, on_event, cancel):
        if run.resume:
            return Reply(Status.FAILED, failure=Failure.SESSION_LOST, message="No conversation")
        return await answers(run, on_event, cancel)

    puppet = Puppet("one", forgetful, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    second = await house.ask("Second.", engine="one", conversation=first.conversation)
    assert second.status is Status.DONE
    assert [run.resume for run in puppet.runs] == ["", f"session-{first.id}", ""]
    assert "First." in puppet.runs[2].delivery.system


async def test_case_061_the_session_is_kept_at_its_first_mention(house: House) -> None:
    seen = asyncio.Event()
    go_on = asyncio.Event()

    async def slow(run, on_event, cancel):
        await on_event(stream.SessionStarted("session-early"))
        seen.set()
        await go_on.wait()
        return Reply(Status.DONE, text="done", session="session-early")

    house.seat(Puppet("one", slow, SPLIT))
    turn = await house.app.turns.ask(Ask("Go.", str(house.project), engine="one"))
    await asyncio.wait_for(seen.wait(), 10)
    kept = await house.app.store.read(lambda tx: tx.agents.session(turn.agent))
    go_on.set()
    await house.app.turns.wait(turn.id, seconds=10)
    assert kept is not None
    assert kept.id == "session-early"


@pytest.mark.parametrize("ignores", [False, True])
async def test_cancel_ends_a_turn_and_keeps_the_partial_text(house: House, ignores: bool) -> None:
    started = asyncio.Event()

    async def endless(run, on_event, cancel):
        await on_event(stream.Text("half an "))
        started.set()
        await cancel.wait()
        if ignores:
            return Reply(Status.DONE, text="half an answer after all")
        return Reply(Status.CANCELLED, text="half an ")

    house.seat(Puppet("one", endless, INLINE))
    turn = await house.app.turns.ask(Ask("Go.", str(house.project), engine="one"))
    await asyncio.wait_for(started.wait(), 10)
    ended = await house.app.turns.cancel(turn.id)
    assert ended.status is (Status.DONE if ignores else Status.CANCELLED)
    assert (await house.app.talk.message(ended.answer)).text.startswith("half an")
    assert (await house.app.turns.cancel(turn.id)).status is ended.status


async def test_a_queued_turn_waits_for_its_agent_and_can_be_cancelled(house: House) -> None:
    go_on = asyncio.Event()

    async def slow(run, on_event, cancel):
        await go_on.wait()
        return await answers(run, on_event, cancel)

    puppet = Puppet("one", slow, INLINE)
    house.seat(puppet)
    first = await house.app.turns.ask(Ask("First.", str(house.project), engine="one"))
    ask = Ask("Second.", str(house.project), first.conversation, engine="one")
    second, third = await house.app.turns.ask(ask), await house.app.turns.ask(ask)
    cancelled = await asyncio.wait_for(house.app.turns.cancel(third.id), 10)
    assert cancelled.status is Status.CANCELLED
    assert (await house.app.turns.get(second.id)).status is Status.QUEUED
    assert len(puppet.runs) <= 1
    go_on.set()
    assert (await house.app.turns.wait(second.id, seconds=10)).status is Status.DONE
    assert puppet.runs[1].resume == f"session-{first.id}"


async def test_tool_traffic_is_history_but_no_message_of_the_talk(house: House) -> None:
    async def works(run, on_event, cancel):
        await on_event(stream.Tool("1", "Bash", ToolStatus.RUNNING, "ls -la"))
        await on_event(stream.Tool("1", "Bash", ToolStatus.OK, output="README.md"))
        return Reply(Status.DONE, text="There is a README.")

    house.seat(Puppet("one", works, INLINE))
    turn = await house.ask("What is there?", engine="one")
    said = await house.app.talk.messages(turn.conversation, limit=50)
    assert [one.kind for one in said] == [
        Kind.PERSON, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT,
    ]  # fmt: skip
    assert said[1].pair == said[2].pair != ""
    assert said[1].label == "Bash: ls -la"
    conversation = await house.app.talk.conversation(turn.conversation)
    assert (conversation.messages, conversation.talk) == (4, 2)


async def test_secrets_leave_packs_and_events_but_stay_in_the_store(house: House) -> None:
    token = "ghp_" + "aB3" * 12

    async def blabs(run, on_event, cancel):
        for piece in ("the token is ", token[:10], token[10:], " ok"):
            await on_event(stream.Text(piece))
        return Reply(Status.DONE, text=f"the token is {token} ok")

    puppet = Puppet("one", blabs, INLINE)
    house.seat(puppet)
    first = await house.ask(f"My token is {token}.", engine="one")
    await house.ask("Again?", engine="one", conversation=first.conversation)
    assert token not in repr(await events(house))
    assert all(token not in run.delivery.user for run in puppet.runs)
    assert "[secret:github-token:" in puppet.runs[1].delivery.user
    assert token in (await house.app.talk.message(first.answer)).text


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"prompt": "  \n"}, InvalidInput),
        ({"prompt": "x" * 1_000_001}, TooLarge),
        ({"prompt": "x" * 70_000}, DoesNotFit),
        ({"budget": 10}, InvalidInput),
        ({"mode": "huge"}, InvalidInput),
        ({"engine": "nobody"}, EngineUnknown),
        ({"role": "king"}, NotFound),
        ({"persona": "pirate"}, NotFound),
        ({"project": "/does/not/exist"}, InvalidInput),
        ({"project": "relative"}, InvalidInput),
        ({"conversation": "c_nothing"}, NotFound),
        ({"mute": ("platform",)}, InvalidInput),
        ({"engine": "openai_compat"}, EngineMissing),
        ({"engine": "one", "role": "developer"}, InvalidInput),
    ],
)
async def test_bad_input_names_its_fix_and_leaves_nothing(house: House, change, error) -> None:
    house.seat(Puppet("one", answers, Capabilities(permissions=frozenset({Permission.READ}))))
    before = await house.app.feed.head()
    wanted = {"prompt": "Hi", "project": str(house.project), "engine": "scripted"} | change
    with pytest.raises(error) as caught:
        await house.app.turns.ask(Ask(**wanted))
    assert caught.value.fix
    assert await house.app.feed.head() == before


async def test_the_same_key_asks_once(house: House) -> None:
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    ask = Ask("Once.", str(house.project), engine="one")
    first = await house.app.turns.ask(ask, key="k1")
    again = await house.app.turns.ask(ask, key="k1")
    assert first.id == again.id
    await house.app.turns.wait(first.id, seconds=10)
    assert len(puppet.runs) == 1
    with pytest.raises(IdempotencyConflict):
        await house.app.turns.ask(Ask("Other.", str(house.project), engine="one"), key="k1")


async def test_a_failed_turn_can_be_retried_and_a_good_one_cannot(house: House) -> None:
    tries = iter([Reply(Status.FAILED, failure=Failure.RATE_LIMIT, message="slow down")])

    async def second_time(run, on_event, cancel):
        return next(tries, None) or await answers(run, on_event, cancel)

    house.seat(Puppet("one", second_time, INLINE))
    failed = await house.ask("Try.", engine="one")
    assert (failed.status, failed.failure) == (Status.FAILED, Failure.RATE_LIMIT)
    ended = (await events(house, "turn.ended"))[-1].data
    assert ended["fix"]
    assert ended["retryable"]
    again = await house.app.turns.retry(failed.id, key="r1")
    assert (await house.app.turns.retry(failed.id, key="r1")).id == again.id
    again = await house.app.turns.wait(again.id, seconds=10)
    assert again.status is Status.DONE
    assert again.prompt == failed.prompt
    with pytest.raises(Conflict):
        await house.app.turns.retry(again.id)


async def test_a_fault_inside_mufakat_never_leaves_a_turn_running(house: House) -> None:
    async def breaks(run, on_event, cancel):
        raise ZeroDivisionError

    house.seat(Puppet("one", breaks, INLINE))
    turn = await house.ask("Go.", engine="one")
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.INTERNAL)


async def test_a_conversation_belongs_to_one_project(house: House, tmp_path) -> None:
    first = await house.ask("Here.", engine="scripted")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(Conflict):
        await house.app.turns.ask(Ask("There.", str(other), first.conversation, engine="scripted"))


async def test_the_preview_is_what_is_then_sent(house: House) -> None:
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    ask = Ask("Second.", str(house.project), first.conversation, engine="one")
    preview = await house.app.turns.preview(ask)
    turn = await house.app.turns.wait((await house.app.turns.ask(ask)).id, seconds=10)
    pack = await house.app.packs.get(turn.pack)
    assert preview.user == (await house.app.packs.sent(pack))[1]
    assert preview.receipt.parity == pack.receipt.parity
    assert preview.receipt.used == pack.receipt.used


async def test_row_67_all_that_a_turn_leaves_behind_is_for_its_owner_alone(house: House) -> None:
    before = os.umask(0)
    try:
        await house.ask("Hi.", engine="scripted")
    finally:
        os.umask(before)
    for path in house.home.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


async def test_a_turn_is_found_by_the_beginning_of_its_id_and_as_last(house: House) -> None:
    turns = house.app.turns
    first = await house.ask("one", engine="scripted")
    second = await house.ask("two", engine="scripted")
    assert (await turns.get(first.id[:-2])).id == first.id
    assert (await turns.get("last")).id == second.id
    assert (await turns.wait("last", seconds=1)).status is Status.DONE
    assert (await turns.cancel(first.id[:-2])).id == first.id
    with pytest.raises(InvalidInput, match="fits several"):
        await turns.get("t_")
    with pytest.raises(NotFound):
        await turns.get("t_zzz")


async def test_an_instance_file_that_a_crash_left_empty_is_filled(tmp_path: Path) -> None:
    (tmp_path / application.INSTANCE).touch()
    app = await application.build(load(tmp_path))
    await app.close()
    assert len((tmp_path / application.INSTANCE).read_text()) == 32


async def test_last_is_the_newest_conversation_of_the_project(house: House, tmp_path) -> None:
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    with pytest.raises(NotFound):
        await house.app.turns.ask(Ask("Hi.", str(house.project), "last", engine="one"))
    first = await house.ask("Here.", engine="one")
    other = tmp_path / "other"
    other.mkdir()
    ask = Ask("There.", str(other), engine="one")
    there = await house.app.turns.wait((await house.app.turns.ask(ask)).id, seconds=10)
    again = await house.ask("Here again.", engine="one", conversation="last")
    assert again.conversation == first.conversation
    preview = await house.app.turns.preview(Ask("?", str(other), "last", engine="one"))
    assert preview.identity == there.identity
    assert (await house.app.talk.conversation("last")).id == there.conversation


async def test_what_tools_print_does_not_fill_the_memory(house: House) -> None:
    async def noisy(run, on_event, cancel):
        for number in range(60):
            tool = stream.Tool(str(number), "Bash", ToolStatus.OK, "cat", "x" * 1_000_000)
            await on_event(tool)
        return Reply(Status.DONE, text="done")

    house.seat(Puppet("one", noisy, INLINE))
    turn = await house.ask("Go.", engine="one")
    said = await house.app.talk.messages(turn.conversation, limit=200)
    printed = [one for one in said if one.kind is Kind.TOOL_RESULT]
    assert len(printed) == 60
    assert "1,000,000 characters in all" in printed[0].text
    assert sum(one.chars for one in printed) < 9_000_000


async def test_no_more_is_packed_than_the_engine_takes(house: House) -> None:
    puppet = Puppet("one", answers, Capabilities(prompt_chars=9_000))
    house.seat(puppet)
    turn = await house.ask("Hi.", engine="one", budget=50_000)
    assert (await house.app.packs.get(turn.pack)).receipt.budget == 9_000
    with pytest.raises(DoesNotFit):
        await house.app.turns.ask(Ask("x" * 9_500, str(house.project), engine="one"))
