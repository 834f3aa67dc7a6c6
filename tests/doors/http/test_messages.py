"""Sending over HTTP: what is taken, what is refused, and that a retry sends nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

from doors.http.room import Room, refused
from mufakat.app import App
from mufakat.server.http.schemas import mail

pytestmark = pytest.mark.anyio


async def test_a_message_arrives_once_and_says_who_sent_it(room: Room) -> None:
    sender, reader = await room.join(), await room.join("claude")
    body = {"to": [reader.identity], "body": "The tests are red.", "intent": "alert"}
    answer = await sender.ask("POST", "/messages", body, key="one")
    assert answer.status_code == 201
    mail.Sent.model_validate_json(answer.content)
    sent = answer.json()
    again = await sender.ask("POST", "/messages", body, key="one")
    assert again.status_code == 200
    assert again.json() == sent | {"duplicate": True}
    letters = (await reader.get("/inbox"))["items"]
    assert [one["message"] for one in letters] == [sent["message"]]
    mail.Letter.model_validate(letters[0])
    assert (letters[0]["sender"], letters[0]["number"]) == (sender.identity, 1)
    assert letters[0]["text"] == "The tests are red."
    assert letters[0]["requires_ack"] is True


async def test_roles_and_aliases_are_addresses(room: Room) -> None:
    sender = await room.join()
    one = await room.join("claude", role="tester", alias="anna")
    two = await room.join("gemini", role="tester")
    sent = await room.send(sender, "role:tester")
    assert set(sent["recipients"]) == {one.identity, two.identity}
    assert (await room.send(sender, "anna"))["recipients"] == [one.identity]


async def test_a_reply_lands_in_the_same_conversation(room: Room, app: App) -> None:
    asker, answerer = await room.join(), await room.join("claude")
    asked = await room.send(asker, answerer, intent="request", body="Which port?")
    reply = await room.send(answerer, asker, reply_to=asked["message"], body="8080.")
    assert reply["conversation"] == asked["conversation"]
    said = await asker.get(f"/conversations/{asked['conversation']}/messages")
    assert [one["text"] for one in said["items"]] == ["Which port?", "8080."]
    assert [one["speaker"] for one in said["items"]] == [asker.identity, answerer.identity]


async def test_the_operator_speaks_as_the_person(room: Room, app: App) -> None:
    reader = await room.join()
    await room.send(room.operator, reader)
    letter = (await reader.get("/inbox"))["items"][0]
    assert letter["sender"] == app.agents.operator.identity


@pytest.mark.parametrize(
    "change",
    [
        {"intent": "shout"},
        {"priority": 4},
        {"priority": -1},
        {"priority": "3"},
        {"priority": True},
        {"deadline": 0},
        {"deadline": "60"},
        {"ttl": -1},
        {"ttl": 1e12},
        {"steer": 1},
        {"to": "codex"},
        {"to": [1]},
        {"refs": ["x" * 1001]},
        {"body": 5},
        {"body": ""},
        {"from": "human@web:000000"},
        {"sender": "human@web:000000"},
        {"mode": "steer"},
    ],
)
async def test_a_message_is_checked(room: Room, app: App, change: dict[str, Any]) -> None:
    sender = await room.join()
    body = {"to": [sender.identity], "body": "Hello."} | change
    before = await app.feed.head()
    refused(await sender.ask("POST", "/messages", body, key="k"), 422, "invalid_input")
    assert await app.feed.head() == before


async def test_a_message_needs_a_key(room: Room) -> None:
    sender = await room.join()
    body = {"to": [sender.identity], "body": "Hello."}
    refused(await sender.ask("POST", "/messages", body), 422, "invalid_input")
    refused(await sender.ask("POST", "/messages", body, key="a b"), 422, "invalid_input")


async def test_keys_are_of_one_sender(room: Room) -> None:
    one, two = await room.join(), await room.join("claude")
    first = await one.post("/messages", {"to": [two.identity], "body": "One."}, key="same")
    second = await two.post("/messages", {"to": [one.identity], "body": "Two."}, key="same")
    assert second["duplicate"] is False
    assert second["message"] != first["message"]


async def test_a_flood_is_refused_with_the_time_to_wait(room: Room) -> None:
    sender, reader = await room.join(), await room.join("claude")
    for number in range(200):
        body = {"to": [reader.identity], "body": f"Message {number}."}
        answer = await sender.ask("POST", "/messages", body, key=f"f{number}")
        if answer.status_code != 201:
            break
    problem = refused(answer, 429, "too_many")
    assert problem["retryable"] is True
    assert int(answer.headers["retry-after"]) >= 1
