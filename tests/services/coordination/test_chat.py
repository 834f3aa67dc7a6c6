"""The bridge to a team chat: in order, once, whatever the chat's endpoint does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from equipment import chat as slack
from equipment.chat import Workspace
from mufakat.chat.webhook import Webhook
from mufakat.core import secrets
from mufakat.core.base import ConversationId, NotFound
from mufakat.core.coordination import chat
from mufakat.core.coordination.chat import Link
from mufakat.core.coordination.inbox import Status
from mufakat.ports.store import Transaction
from mufakat.services.coordination import chat as bridges
from mufakat.services.coordination import chat_hearing, inbox, rooms
from mufakat.services.coordination.chat import Bridge
from mufakat.services.coordination.chat_hearing import Taken
from services.coordination.mail.conftest import ANN, BOB, Office, opened

pytestmark = pytest.mark.anyio
CHANNEL = "C1"


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with slack.running() as found:
        yield found


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opened(tmp_path) as found:
        yield found


@asynccontextmanager
async def bridged(
    office: Office, workspace: Workspace, make: type[Bridge] = Bridge, **link: Any
) -> AsyncIterator[Bridge]:
    """A bridge between the room of the project and a channel."""
    linked = Link("dev", CHANNEL, project=office.project, **link)
    made = make(
        office.store,
        secrets.scrub,
        links=[linked],
        chat=Webhook(workspace.url, slack.TOKEN, seconds=5),
        first_pause=0.01,
    )
    made.start()
    try:
        await eventually(lambda: cursor(office))
        yield made
    finally:
        await made.close()


async def eventually(true: Callable[[], Any], *, seconds: float = 15) -> None:
    async with asyncio.timeout(seconds):
        while True:
            found = true()
            found = await found if asyncio.iscoroutine(found) else found
            if found or found == 0 and found is not False:
                return
            await asyncio.sleep(0.01)


async def cursor(office: Office) -> int | None:
    return await office.store.read(lambda tx: tx.cursors.get(f"chat/{CHANNEL}/"))


async def room(office: Office) -> ConversationId:
    def step(tx: Transaction) -> ConversationId:
        (project,) = tx.projects.list()
        return rooms.room(tx, project)

    return await office.store.write(step)


async def hear(bridge: Bridge, payload: dict[str, Any]) -> Taken:
    heard = chat.hear(payload)
    assert heard is not None
    return await bridge.take(heard)


async def posts(workspace: Workspace, count: int) -> None:
    await eventually(lambda: len(workspace.posts) >= count)
    assert len(workspace.posts) == count


async def test_what_is_said_here_is_posted_in_order(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace):
        for number in range(5):
            await office.send(ANN, BOB, f"number {number}")
        await posts(workspace, 5)
    assert [text.split("number ")[1] for text in workspace.texts()] == list("01234")
    assert all(f"*{ANN}*" in text for text in workspace.texts())
    assert {one["authorization"] for one in workspace.tried} == {f"Bearer {slack.TOKEN}"}


async def test_a_link_begins_with_what_comes_now(office: Office, workspace: Workspace) -> None:
    await office.send(ANN, BOB, "before")
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "after")
        await posts(workspace, 1)
    assert "after" in workspace.texts()[0]


async def test_a_person_is_heard_and_not_posted_back(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace) as bridge:
        taken = await hear(bridge, workspace.says(CHANNEL, "U1", "Hello from the chat."))
        await office.send(ANN, BOB, "and from here")
        await posts(workspace, 1)
    said = await office.store.read(lambda tx: tx.messages.get(taken.message))  # type: ignore[arg-type]
    assert said is not None and said.speaker == chat.person("T1/U1")
    assert said.text == "Hello from the chat."


async def test_own_posts_come_back_and_are_nothing_new(
    office: Office, workspace: Workspace
) -> None:
    async with bridged(office, workspace) as bridge:
        await office.send(ANN, BOB, "once")
        await posts(workspace, 1)
        assert await hear(bridge, workspace.echo(workspace.posts[0])) == Taken()
        await office.send(ANN, BOB, "twice")
        await posts(workspace, 2)


async def test_twin_a_bridge_that_hears_itself_never_ends(
    office: Office, workspace: Workspace
) -> None:
    async with bridged(office, workspace) as bridge:
        await office.send(ANN, BOB, "once")
        await posts(workspace, 1)
        event = workspace.echo(workspace.posts[0])
        for sign in ("metadata", "bot_id", "subtype"):
            del event["event"][sign]
        event["event"] |= {"user": "U9", "ts": "9.9"}
        assert (await hear(bridge, event)).message, "without the signs it is taken for a person"


async def test_other_bots_are_not_heard(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace) as bridge:
        event = workspace.says(CHANNEL, "", "I am a bot.", bot_id="B9", subtype="bot_message")
        assert await hear(bridge, event) == Taken()


async def test_an_event_that_comes_again_is_taken_once(
    office: Office, workspace: Workspace
) -> None:
    async with bridged(office, workspace) as bridge:
        event = workspace.says(CHANNEL, "U1", "Once.")
        first = await hear(bridge, event)
        again = await hear(bridge, event | {"event": event["event"] | {"type": "app_mention"}})
    assert (again.message, again.duplicate) == (first.message, True)


async def test_a_mention_is_a_request(office: Office, workspace: Workspace) -> None:
    await office.join("codex@host:dddddd", role="tester", alias="tess")
    async with bridged(office, workspace) as bridge:
        await hear(bridge, workspace.says(CHANNEL, "U1", "@tess does it work?"))
        await hear(bridge, workspace.says(CHANNEL, "U1", "@tester or not? @nobody knows"))
    (one, two) = await office.letters("codex@host:dddddd")
    assert [letter.envelope.intent.value for letter in (one, two)] == ["request", "request"]
    assert one.envelope.to == ("codex@host:dddddd",)
    assert two.envelope.to == ("role:tester",)
    assert one.text == "@tess does it work?"


async def test_threads_go_both_ways(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace) as bridge:
        asked = await office.send(ANN, BOB, "Which database?")
        await posts(workspace, 1)
        root = workspace.posts[0]["ts"]
        said = await hear(bridge, workspace.says(CHANNEL, "U1", "PostgreSQL.", thread_ts=root))
        letters = await office.letters(ANN)
        assert letters[-1].envelope.reply_to == asked.message
        await office.send(ANN, (), "Thank you.", reply_to=said.message)
        await posts(workspace, 2)
    assert workspace.posts[1]["thread_ts"] == root
    assert "thread_ts" not in workspace.posts[0]


async def test_a_webhook_that_tells_no_stamp_is_learnt_by_the_echo(
    office: Office, workspace: Workspace
) -> None:
    workspace.tells_stamps = False
    async with bridged(office, workspace) as bridge:
        asked = await office.send(ANN, BOB, "Which database?")
        await posts(workspace, 1)
        await eventually(lambda: cursor(office))
        await hear(bridge, workspace.echo(workspace.posts[0]))
        root = workspace.posts[0]["ts"]
        await hear(bridge, workspace.says(CHANNEL, "U1", "This one.", thread_ts=root))
    assert (await office.letters(ANN))[-1].envelope.reply_to == asked.message


async def test_an_echo_cannot_claim_a_message_of_another_conversation(
    office: Office, workspace: Workspace
) -> None:
    async with bridged(office, workspace) as bridge:
        other = await office.store.write(
            lambda tx: chat_hearing.talk.add(tx, tx.projects.list()[0], "Other")
        )
        hidden = await office.send(ANN, (), "not for the channel", thread=other.id)
        forged = workspace.says(CHANNEL, "U1", "x", bot_id="B9")
        payload = {"message": hidden.message}
        forged["event"]["metadata"] = {"event_type": chat.OWN, "event_payload": payload}
        await hear(bridge, forged)
        linked = Link("dev", CHANNEL, project=office.project)
        assert not await office.store.read(
            lambda tx: chat_hearing.stands(tx, linked, hidden.message)
        )


@pytest.mark.parametrize(
    "faults",
    [["429", "429"], ["500"], ["lost"], ["ok:false ratelimited"], ["500", "lost", "429", "500"]],
    ids="+".join,
)
async def test_no_fault_loses_or_doubles_a_post(
    office: Office, workspace: Workspace, faults: list[str]
) -> None:
    workspace.faults = [*faults]
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "first")
        await office.send(ANN, BOB, "second")
        await posts(workspace, 2)
        await eventually(lambda: caught_up(office))
    assert ["first" in workspace.texts()[0], "second" in workspace.texts()[1]] == [True, True]
    assert len(workspace.tried) == 2 + len(faults)


async def caught_up(office: Office) -> bool:
    place = await room(office)

    def query(tx: Transaction) -> bool:
        found = tx.conversations.get(place)
        return found is not None and tx.cursors.get(f"chat/{CHANNEL}/") == found.messages

    return await office.store.read(query)


async def test_twin_without_a_dedup_id_a_lost_reply_doubles(
    office: Office, workspace: Workspace
) -> None:
    workspace.remembers = False
    workspace.faults = ["lost"]
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "first")
        await eventually(lambda: len(workspace.posts) == 2)
    first, again = workspace.posts
    assert first["client_msg_id"] == again["client_msg_id"], "at least once, and it can be known"


async def test_a_pause_is_as_long_as_the_chat_asks(
    office: Office, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real(min(seconds, 0.01))

    workspace.faults, workspace.retry_after = ["429"], "17"
    monkeypatch.setattr(bridges.asyncio, "sleep", sleep)
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "first")
        await posts(workspace, 1)
    assert 17.0 in slept


async def test_a_message_that_is_refused_holds_no_other(
    office: Office, workspace: Workspace
) -> None:
    workspace.faults = ["ok:false msg_too_long", "400 invalid_payload"]
    async with bridged(office, workspace):
        for word in ("one", "two", "three"):
            await office.send(ANN, BOB, word)
        await posts(workspace, 1)
    assert "three" in workspace.texts()[0]
    assert [one.data["number"] for one in await office.events("chat.refused")] == [1, 2]


async def test_a_channel_that_is_gone_is_tried_again_later_and_loses_nothing(
    office: Office, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridges, "LONGEST", 0.01)
    workspace.faults = ["404 no_service", "ok:false channel_not_found", "ok:false invalid_auth"]
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "kept")
        await posts(workspace, 1)
    assert len(workspace.tried) == 4
    assert await office.events("chat.refused") == []


async def test_a_restart_goes_on_where_it_stopped(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "first")
        await posts(workspace, 1)
        await eventually(lambda: caught_up(office))
    await office.send(ANN, BOB, "while it was away")
    async with bridged(office, workspace):
        await posts(workspace, 2)
    assert len(workspace.tried) == 2


async def test_a_stuck_chat_holds_nobody_up(office: Office, workspace: Workspace) -> None:
    workspace.faults = ["500"] * 10_000
    async with bridged(office, workspace):
        await office.send(ANN, BOB, "first")
        await eventually(lambda: len(workspace.tried) > 1)
        async with asyncio.timeout(10):
            for number in range(20):
                await office.send(ANN, BOB, f"more {number}")
    assert len(await office.letters(BOB)) == 21


async def test_secrets_do_not_leave(office: Office, workspace: Workspace) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with bridged(office, workspace):
        await office.send(ANN, BOB, f"the token is {token}, <!channel> @here")
        await posts(workspace, 1)
    (text,) = workspace.texts()
    assert token not in text
    assert "<!channel>" not in text and "@here" not in text


async def test_what_mufakat_itself_says_stays_here(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace):
        await office.store.write(lambda tx: inbox.tell(tx, ANN, "a hint of the system"))
        await office.send(ANN, BOB, "said")
        await posts(workspace, 1)


async def test_a_person_has_read_what_was_posted(office: Office, workspace: Workspace) -> None:
    async with bridged(office, workspace) as bridge:
        await hear(bridge, workspace.says(CHANNEL, "U1", "Hello."))
        person = chat.person("T1/U1")
        await office.send(ANN, person, "Good morning.")
        await office.send(ANN, person, "May I deploy?", intent="request")
        await eventually(lambda: caught_up(office))
    assert await office.statuses(person) == [Status.ACKED, Status.SHOWN]


async def test_a_name_of_the_chat_cannot_pass_for_an_agent(
    office: Office, workspace: Workspace
) -> None:
    await office.join("codex@host:dddddd", alias="tess")
    async with bridged(office, workspace) as bridge:
        for user, name in (("U1", "tess"), ("U2", "te55"), ("U3", "mufakat"), ("U4", "Ana")):
            profile = {"display_name": name}
            await hear(bridge, workspace.says(CHANNEL, user, "Hi.", user_profile=profile))
    aliases = [
        (await office.instance(chat.person(f"T1/{user}"))).alias
        for user in ("U1", "U2", "U3", "U4")
    ]
    assert aliases == ["", "", "", "Ana"]


async def test_a_thread_of_the_chat_can_be_a_conversation_of_its_own(
    office: Office, workspace: Workspace
) -> None:
    other = await office.store.write(
        lambda tx: chat_hearing.talk.add(tx, tx.projects.list()[0], "Release")
    )
    links = [
        Link("dev", CHANNEL, project=office.project),
        Link("release", CHANNEL, conversation=other.id, thread="5.5"),
    ]
    bridge = Bridge(office.store, secrets.scrub, links=links)
    await hear(bridge, workspace.says(CHANNEL, "U1", "In the channel."))
    await hear(bridge, workspace.says(CHANNEL, "U1", "In the thread.", thread_ts="5.5"))
    there = await office.store.read(lambda tx: tx.messages.page(other.id, after=0, limit=9))
    assert [one.text for one in there] == ["In the thread."]


async def test_a_channel_that_is_not_linked_is_not_heard(
    office: Office, workspace: Workspace
) -> None:
    async with bridged(office, workspace) as bridge:
        with pytest.raises(NotFound):
            await hear(bridge, workspace.says("C9", "U1", "Hello."))
