"""The chat's door: who calls, by signature or bearer, and what a replay or a forgery can do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from doors.http.conftest import TOKEN
from doors.http.room import Room, refused
from equipment import chat as slack
from equipment.chat import Workspace, signed
from mufakat.app import App
from mufakat.core.base import InvalidInput
from mufakat.core.coordination import chat
from mufakat.server.http import chat_keys
from mufakat.settings import ChannelSettings, ChatSecrets, ChatSettings, Settings, chat_secrets

pytestmark = pytest.mark.anyio
DOOR = "/api/v1/chat/dev"
BEARER = "bearer-of-a-chat-0123456789"


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with slack.running() as found:
        yield found


@pytest.fixture
def settings(tmp_path: Path, project: Path, workspace: Workspace) -> Settings:
    kept = {"url": workspace.url, "signing": slack.SIGNING, "incoming": BEARER}
    for name, value in kept.items():
        (tmp_path / name).write_text(value + "\n")
    configured = ChatSettings(
        url_file=str(tmp_path / "url"),
        signing_file=str(tmp_path / "signing"),
        incoming_file=str(tmp_path / "incoming"),
        channels={"dev": ChannelSettings(channel="C1", project=str(project))},
    )
    return Settings(home=tmp_path / "home", default_engine="scripted", chat=configured)


async def call(bare: httpx.AsyncClient, payload: dict[str, Any], **how: Any) -> httpx.Response:
    body, headers = signed(payload, **how)
    return await bare.post(DOOR, content=body, headers=headers)


async def plain(bare: httpx.AsyncClient, body: Any, token: str = BEARER) -> httpx.Response:
    return await bare.post(DOOR, json=body, headers={"authorization": f"Bearer {token}"})


async def heard(app: App) -> list[str]:
    """What was said, and who takes part because of it."""
    events = await app.feed.after(0, limit=1000, kinds=("message.added", "agent.joined"))
    return [event.subject for event in events if event.subject != app.agents.operator.identity]


async def test_a_signed_event_becomes_a_message(
    bare: httpx.AsyncClient, workspace: Workspace, app: App
) -> None:
    answer = await call(bare, workspace.says("C1", "U1", "Hello."))
    assert answer.status_code == 200
    said = await app.talk.message(answer.json()["message"])
    assert (said.text, said.speaker) == ("Hello.", chat.person("T1/U1"))


async def test_the_address_is_verified_by_a_signed_challenge(bare: httpx.AsyncClient) -> None:
    answer = await call(bare, {"type": "url_verification", "challenge": "abc"})
    assert answer.json()["challenge"] == "abc"
    wrong = await call(bare, {"type": "url_verification", "challenge": "abc"}, secret="other")
    refused(wrong, 401, "unauthenticated")


async def test_a_replay_changes_nothing(
    bare: httpx.AsyncClient, workspace: Workspace, app: App
) -> None:
    body, headers = signed(workspace.says("C1", "U1", "Hello."))
    first = (await bare.post(DOOR, content=body, headers=headers)).json()
    before = await heard(app)
    again = (await bare.post(DOOR, content=body, headers=headers)).json()
    assert again == {**first, "duplicate": True}
    assert await heard(app) == before


@pytest.mark.parametrize("shift", [-chat_keys.WINDOW - 60, chat_keys.WINDOW + 60])
async def test_an_old_or_future_signature_is_refused(
    bare: httpx.AsyncClient, workspace: Workspace, app: App, shift: int
) -> None:
    before = await heard(app)
    event = workspace.says("C1", "U1", "Hello.")
    refused(await call(bare, event, at=time.time() + shift), 401, "unauthenticated")
    assert await heard(app) == before


async def test_a_forgery_is_refused_without_effect(
    bare: httpx.AsyncClient, workspace: Workspace, app: App
) -> None:
    before = await heard(app)
    body, headers = signed(workspace.says("C1", "U1", "Hello."))
    changed = body.replace(b"Hello", b"Hallo")
    tries = [
        (changed, headers),
        (body, headers | {chat_keys.STAMP: str(int(time.time()) + 1)}),
        (body, headers | {chat_keys.SIGNATURE: "v0="}),
        (body, headers | {chat_keys.SIGNATURE: "ü"}),
        (body, {**headers, chat_keys.STAMP: "now"}),
        (body, {"content-type": "application/json"}),
        (body, {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}),
        # A bearer does not help a wrong signature.
        (changed, headers | {"authorization": f"Bearer {BEARER}"}),
    ]
    answers = [
        await bare.post(
            DOOR, content=one, headers={k: v.encode("latin-1") for k, v in fields.items()}
        )
        for one, fields in tries
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1, "every refusal reads the same"
    assert await heard(app) == before


async def test_twin_a_check_without_the_body_takes_a_forgery(
    bare: httpx.AsyncClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = chat_keys.sign
    monkeypatch.setattr(chat_keys, "sign", lambda secret, stamp, body: real(secret, stamp, b""))
    body, headers = signed(workspace.says("C1", "U1", "Hello."))
    answer = await bare.post(DOOR, content=body.replace(b"Hello", b"Hallo"), headers=headers)
    assert answer.status_code == 200


async def test_a_plain_caller_bears_a_token(bare: httpx.AsyncClient, app: App) -> None:
    answer = await plain(bare, {"text": "Build 7 is red.", "user": "ci", "name": "CI", "id": "b7"})
    assert answer.status_code == 200, answer.text
    said = await app.talk.message(answer.json()["message"])
    assert said.speaker == chat.person("ci")
    again = await plain(bare, {"text": "Build 7 is red.", "user": "ci", "id": "b7"})
    assert again.json()["duplicate"]
    reply = await plain(bare, {"text": "I look at it.", "user": "ana", "thread": "b7"})
    envelope = await app.store.read(lambda tx: tx.inbox.envelope(reply.json()["message"]))
    assert envelope is not None and envelope.reply_to == said.id


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "x"},
        {"text": 1, "user": "a"},
        {"text": "x", "user": "a", "from": "b"},
        {"text": "x", "user": "a", "id": "a b"},
        {"text": "x" * 70_000, "user": "a"},
    ],
)
async def test_a_plain_body_that_is_wrong_is_refused(
    bare: httpx.AsyncClient, body: dict[str, Any]
) -> None:
    refused(await plain(bare, body), 422, "invalid_input")


async def test_the_chats_bearer_opens_nothing_else(bare: httpx.AsyncClient) -> None:
    headers = {"authorization": f"Bearer {BEARER}"}
    assert (await bare.get("/api/v1/agents", headers=headers)).status_code == 401
    refused(await plain(bare, {"text": "x", "user": "a"}, token=TOKEN), 401, "unauthenticated")


async def test_channels_that_are_not_linked(bare: httpx.AsyncClient, workspace: Workspace) -> None:
    body, headers = signed(workspace.says("C1", "U1", "Hello."))
    answer = await bare.post("/api/v1/chat/other", content=body, headers=headers)
    refused(answer, 404, "not_found")
    elsewhere = await call(bare, workspace.says("C9", "U1", "Hello."))
    assert elsewhere.json()["taken"] is False


@pytest.mark.parametrize(
    "event",
    [
        {"type": "event_callback"},
        {"type": "event_callback", "event": None},
        {"type": "event_callback", "event": {"type": "message", "channel": "C1", "ts": 7}},
        {"type": "block_actions", "actions": []},
        {},
    ],
)
async def test_other_events_are_answered_and_not_taken(
    bare: httpx.AsyncClient, event: dict[str, Any]
) -> None:
    answer = await call(bare, event)
    assert (answer.status_code, answer.json()["taken"]) == (200, False)


async def test_a_flood_of_one_person_is_told_to_come_back(
    bare: httpx.AsyncClient, workspace: Workspace
) -> None:
    seen = set()
    for number in range(80):
        answer = await call(bare, workspace.says("C1", "U1", f"{number}"))
        seen.add(answer.status_code)
    assert seen == {200, 429}


async def test_a_chat_that_is_not_set_up_answers_like_a_wrong_signature(
    bare: httpx.AsyncClient, workspace: Workspace, door: Any, app: App
) -> None:
    object.__setattr__(app, "chat_secrets", ChatSecrets())
    refused(await call(bare, workspace.says("C1", "U1", "Hello.")), 401, "unauthenticated")
    refused(await plain(bare, {"text": "x", "user": "a"}, token=""), 401, "unauthenticated")


async def test_an_agent_that_is_mentioned_gets_a_request(room: Room, workspace: Workspace) -> None:
    agent = await room.join(alias="tess")
    await call(room.http, workspace.says("C1", "U1", "@tess, is it green?"))
    (letter,) = (await agent.get("/inbox"))["items"]
    assert (letter["intent"], letter["sender"]) == ("request", chat.person("T1/U1"))
    sent = await agent.post(
        "/messages", {"to": [], "reply_to": letter["message"], "body": "Yes."}, key="k"
    )
    assert sent["recipients"] == [chat.person("T1/U1")]


def test_secrets_are_never_shown(settings: Settings) -> None:
    shared = chat_secrets(settings.chat)
    assert slack.SIGNING not in repr(shared)
    assert set(shared) == {shared.url, slack.SIGNING, BEARER}


def test_what_is_named_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="CHAT_URL"):
        chat_secrets(ChatSettings(url_env="CHAT_URL"))
    monkeypatch.setenv("CHAT_URL", "https://chat.example/hook")
    assert chat_secrets(ChatSettings(url_env="CHAT_URL")).url == "https://chat.example/hook"
    with pytest.raises(InvalidInput, match="cannot be read"):
        chat_secrets(ChatSettings(url_file="/nonexistent/file"))
