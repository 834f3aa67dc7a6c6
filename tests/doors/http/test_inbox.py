"""The inbox over HTTP: read, take, wait, acknowledge, and what becomes of dead letters."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from doors.http.patient import Patient
from doors.http.room import Room, refused
from mufakat.app import App
from mufakat.server.http import api
from mufakat.server.http.schemas import answers, mail

pytestmark = pytest.mark.anyio


async def test_reading_changes_nothing(room: Room, app: App) -> None:
    reader = await room.join()
    await room.send(room.operator, reader)
    before = await app.feed.head()
    first, second = await reader.get("/inbox"), await reader.get("/inbox")
    assert first == second
    assert await app.feed.head() == before
    answers.Listing[mail.Letter].model_validate(first)


async def test_pages_of_the_inbox(room: Room) -> None:
    reader = await room.join()
    for number in range(5):
        await room.send(room.operator, reader, body=f"Message {number}.")
    page = await reader.get("/inbox", limit=2)
    assert [one["number"] for one in page["items"]] == [1, 2]
    rest = await reader.get("/inbox", limit=10, after=page["next"])
    assert ([one["number"] for one in rest["items"]], rest["next"]) == ([3, 4, 5], None)


async def test_a_claim_is_of_one_consumer(room: Room) -> None:
    reader = await room.join()
    await room.send(room.operator, reader)
    claimed = await reader.post("/inbox/claim", {"limit": 10})
    assert [one["number"] for one in claimed["items"]] == [1]
    assert claimed["items"][0]["status"] == "offered"
    assert (await reader.post("/inbox/claim"))["items"] == []


async def test_shown_then_acknowledged(room: Room) -> None:
    reader = await room.join()
    await room.send(room.operator, reader, intent="request", body="Please test.")
    await reader.post("/inbox/claim")
    await reader.post("/inbox/shown", {"numbers": [1]})
    assert (await reader.get("/inbox"))["items"][0]["status"] == "shown"
    assert await reader.post("/inbox/ack", {"upto": 1}) == {"acked": 1}
    assert (await reader.get("/inbox"))["items"] == []
    done = await reader.get("/inbox", open=0)
    assert done["items"][0]["status"] == "acked"
    assert (await reader.get("/agents/me"))["inbox"] == {"head": 1, "acked": 1}


async def test_single_messages_are_declined_with_a_reason(room: Room) -> None:
    reader = await room.join()
    for _ in range(2):
        await room.send(room.operator, reader, intent="request")
    await reader.post("/inbox/claim")
    await reader.post("/inbox/ack", {"numbers": [2], "decline": "Not mine."})
    rows = {one["number"]: one for one in (await reader.get("/inbox", open=0))["items"]}
    assert (rows[2]["status"], rows[2]["note"]) == ("declined", "Not mine.")
    assert rows[1]["status"] == "offered"


async def test_a_claim_waits_for_mail(room: Room) -> None:
    reader = await room.join()
    waiting = asyncio.create_task(reader.post("/inbox/claim", {"wait": 30}))
    await asyncio.sleep(0.05)
    await room.send(room.operator, reader)
    async with asyncio.timeout(20):
        found = await waiting
    assert [one["number"] for one in found["items"]] == [1]


async def test_a_claim_that_waits_in_vain_answers_nothing(room: Room) -> None:
    reader = await room.join()
    assert await reader.post("/inbox/claim", {"wait": 0.1}) == {"items": [], "next": None}


async def test_a_waiting_claim_ends_when_its_client_leaves(room: Room, door: api.Server) -> None:
    reader = await room.join()
    patient = Patient(door, "/inbox/claim", {"wait": 600}, token=reader.token).start()
    await patient.waiting()
    await patient.leave()
    await room.send(room.operator, reader)
    # Nobody took it in the name of the one who has left.
    assert (await reader.get("/inbox"))["items"][0]["status"] == "queued"


async def test_a_waiting_claim_ends_with_the_server(room: Room, door: api.Server) -> None:
    reader = await room.join()
    patient = Patient(door, "/inbox/claim", {"wait": 600}, token=reader.token).start()
    await patient.waiting()
    door.streams.close()
    assert await patient.answer() == 503
    assert json.loads(patient.body)["retryable"] is True


async def test_one_token_may_wait_so_often_and_no_more(room: Room, door: api.Server) -> None:
    reader, other = await room.join(), await room.join("claude")
    patients = [
        Patient(door, "/inbox/claim", {"wait": 600}, token=reader.token).start()
        for _ in range(door.waits.limit)
    ]
    for patient in patients:
        await patient.waiting()
    more = await reader.ask("POST", "/inbox/claim", {"wait": 600})
    refused(more, 429, "too_many_streams")
    assert (await other.post("/inbox/claim", {"wait": 0.01}))["items"] == []
    for patient in patients:
        await patient.leave()
    assert door.waits.open == 0


async def test_the_operator_reads_any_inbox(room: Room) -> None:
    reader = await room.join()
    await room.send(room.operator, reader)
    found = await room.operator.get(f"/agents/{reader.identity}/inbox")
    assert [one["recipient"] for one in found["items"]] == [reader.identity]
    refused(await reader.ask("GET", "/agents/me/inbox"), 403, "not_allowed")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/inbox/claim", {"limit": 0}),
        ("/inbox/claim", {"limit": 201}),
        ("/inbox/claim", {"wait": -1}),
        ("/inbox/claim", {"wait": 601}),
        ("/inbox/claim", {"wait": "1"}),
        ("/inbox/claim", {"from": "x"}),
        ("/inbox/shown", {}),
        ("/inbox/shown", {"numbers": "1"}),
        ("/inbox/shown", {"numbers": [1.5]}),
        ("/inbox/ack", {"upto": "1"}),
        ("/inbox/ack", {"upto": True}),
        ("/inbox/ack", {"decline": 5, "numbers": [1]}),
        ("/inbox/ack", {}),
    ],
)
async def test_what_is_asked_of_an_inbox_is_checked(
    room: Room, path: str, body: dict[str, Any]
) -> None:
    reader = await room.join()
    refused(await reader.ask("POST", path, body), 422, "invalid_input")


async def test_dead_letters_are_seen_and_delivered_again(room: Room, app: App) -> None:
    reader = await room.join()
    sent = await room.send(room.operator, reader, intent="request")
    for _ in range(5):
        await reader.post("/inbox/claim")
        await reader.post("/inbox/shown", {"numbers": [1]})
    dead = await room.operator.get("/dead-letters")
    if dead["items"]:
        body = {"message": sent["message"], "recipient": reader.identity}
        again = await room.operator.post("/dead-letters/redeliver", body)
        assert again["status"] == "queued"
    missing = {"message": "m_nothing", "recipient": reader.identity}
    refused(await room.operator.ask("POST", "/dead-letters/redeliver", missing), 404, "not_found")


async def test_due_shows_what_is_new_or_still_needs_an_answer(room: Room) -> None:
    ann, bob = await room.join(), await room.join("claude")
    await room.send(ann, bob, body="asked", intent="request")
    await room.send(ann, bob, body="told")
    await bob.post("/inbox/shown", {"numbers": [1, 2]})
    await room.send(ann, bob, body="new")

    async def texts(**query: str) -> list[str]:
        return [one["text"] for one in (await bob.get("/inbox", **query))["items"]]

    assert await texts(due="1") == ["asked", "new"]
    assert await texts(due="1", limit="1") == ["asked"]
    assert await texts(due="0") == await texts(open="1") == ["asked", "told", "new"]
    refused(await bob.ask("GET", "/inbox", due="yes"), 422, "invalid_input")
