"""Waiting for agents over HTTP, and rules that act when they come into a state."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import httpx
import pytest

from doors.http import wire
from doors.http.patient import Patient
from doors.http.room import Caller, Room, refused
from mufakat.app import App
from mufakat.server import main
from mufakat.server.http import api
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import waiting as shapes
from mufakat.settings import Settings

pytestmark = pytest.mark.anyio


async def report(agent: Caller, state: str, ordinal: int, **more: Any) -> None:
    body = {"state": state, "run": agent.record["run"], "ordinal": ordinal, **more}
    answer = await agent.ask("PUT", "/agents/me/state", body)
    assert answer.status_code == 200, answer.text


def idle(agent: Caller) -> dict[str, Any]:
    return {"who": agent.identity, "states": ["idle"]}


async def test_a_wait_ends_when_it_is_met(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    await report(other, "working", 1)
    body = {"conditions": [idle(other)], "seconds": 30}
    waiting = asyncio.create_task(agent.post("/wait", body))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await report(other, "idle", 2)
    async with asyncio.timeout(20):
        met = await waiting
    shapes.Met.model_validate(met)
    assert met["met"] is True
    assert [one["identity"] for one in met["agents"]] == [other.identity]


async def test_a_wait_for_any_ends_with_the_first(room: Room) -> None:
    agent, one, two = await room.join(), await room.join("claude"), await room.join("gemini")
    await report(one, "working", 1)
    await report(two, "idle", 1)
    body = {"conditions": [idle(one), idle(two)], "every": False, "seconds": 30}
    assert (await agent.post("/wait", body))["met"] is True
    assert (await agent.post("/wait", body | {"every": True, "seconds": 0}))["met"] is False


async def test_a_wait_ends_with_its_client_and_with_the_server(
    room: Room, door: api.Server
) -> None:
    agent, other = await room.join(), await room.join("claude")
    await report(other, "working", 1)
    body = {"conditions": [idle(other)], "seconds": 600}
    patient = Patient(door, "/wait", body, token=agent.token).start()
    await patient.waiting()
    assert door.waits.open == 1
    await patient.leave()
    assert door.waits.open == 0
    patient = Patient(door, "/wait", body, token=agent.token).start()
    await patient.waiting()
    door.streams.close()
    assert await patient.answer() == 503
    assert json.loads(patient.body)["code"] == "unavailable"


def test_a_wait_on_the_wire_ends_with_the_server(settings: Settings) -> None:
    answers: list[httpx.Response] = []
    body = {"conditions": [{"who": "me", "states": ["blocked"]}], "seconds": 600}

    def ask(server: main.Ready) -> None:
        with wire.client(server) as http:
            answers.append(http.post("/api/v1/wait", json=body))

    with main.in_thread(settings) as server:
        asking = threading.Thread(target=ask, args=(server,))
        asking.start()
        time.sleep(0.5)
        assert answers == []
    asking.join(20)
    assert [one.status_code for one in answers] == [503]


async def test_a_rule_is_kept_seen_and_taken_back(room: Room, app: App) -> None:
    agent, other = await room.join(), await room.join("claude")
    await report(other, "working", 1)
    body = {
        "condition": idle(other),
        "action": "send",
        "data": {"to": agent.identity, "body": "It is idle."},
    }
    answer = await agent.ask("POST", "/reactions", body)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    shapes.Reaction.model_validate(made)
    assert answer.headers["location"] == f"/api/v1/reactions/{made['id']}"
    assert (made["owner"], made["fired"], made["done"]) == (agent.identity, 0, False)
    page = await agent.get("/reactions")
    answers.Listing[shapes.Reaction].model_validate(page)
    assert [one["id"] for one in page["items"]] == [made["id"]]
    assert (await other.get("/reactions"))["items"] == []
    refused(await other.ask("DELETE", f"/reactions/{made['id']}"), 403, "not_allowed")
    gone = await agent.ask("DELETE", f"/reactions/{made['id']}")
    assert gone.status_code == 200
    assert gone.json()["done"] is True
    await report(other, "idle", 2)
    assert (await agent.get("/inbox"))["items"] == []


async def test_a_rule_fires_once(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    await report(other, "working", 1)
    data = {"to": agent.identity, "body": "It is idle."}
    rule = {"condition": idle(other), "action": "send", "data": data}
    await room.operator.post("/reactions", rule)
    await report(other, "idle", 2)
    await report(other, "working", 3)
    await report(other, "idle", 4)
    letters = (await agent.get("/inbox"))["items"]
    assert [one["text"] for one in letters] == ["It is idle."]


async def test_agents_do_not_start_turns_by_rules(room: Room) -> None:
    agent = await room.join()
    data = {"to": agent.identity, "prompt": "Go on."}
    body = {"condition": idle(agent), "action": "enqueue", "data": data}
    refused(await agent.ask("POST", "/reactions", body), 403, "not_allowed")


@pytest.mark.parametrize(
    "change",
    [
        {"conditions": []},
        {"conditions": [{"who": "", "states": ["idle"]}]},
        {"conditions": [{"who": "me", "states": []}]},
        {"conditions": [{"who": "me", "states": ["dead"]}]},
        {"conditions": [{"who": "me", "states": ["idle"], "seconds": -1}]},
        {"conditions": [{"who": "me", "states": ["idle"], "seconds": "2"}]},
        {"seconds": 601},
        {"seconds": -1},
        {"every": 1},
        {"from": "x"},
    ],
)
async def test_what_is_waited_for_is_checked(room: Room, change: dict[str, Any]) -> None:
    agent = await room.join()
    body = {"conditions": [{"who": "me", "states": ["idle"]}], "seconds": 0} | change
    refused(await agent.ask("POST", "/wait", body), 422, "invalid_input")


async def test_nobody_waits_for_who_never_was(room: Room) -> None:
    agent = await room.join()
    body = {"conditions": [{"who": "nobody", "states": ["idle"]}], "seconds": 0}
    refused(await agent.ask("POST", "/wait", body), 404, "not_found")
