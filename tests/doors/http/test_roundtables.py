"""Roundtables over HTTP: begun, watched, steered; what is refused, and to whom."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from doors.http.room import Room, refused
from mufakat.server.http.schemas import roundtables as shapes

pytestmark = pytest.mark.anyio


def body(room: Room, **more: Any) -> dict[str, Any]:
    seats = [{"engine": "scripted"}, {"engine": "scripted", "stance": "against"}]
    return {"question": "Which store?", "project": room.project, "seats": seats, **more}


async def begun(room: Room, **more: Any) -> dict[str, Any]:
    answer = await room.operator.ask("POST", "/roundtables", body(room, **more), key="k")
    assert answer.status_code == 202
    table = answer.json()
    assert answer.headers["location"] == f"/api/v1/roundtables/{table['id']}"
    return await ended(room, table["id"])


async def ended(room: Room, id: str) -> dict[str, Any]:
    found: dict[str, Any] = await room.operator.get(f"/roundtables/{id}", wait=20)
    shapes.Roundtable.model_validate(found)
    return found


async def test_a_table_runs_and_tells_what_it_came_to(room: Room) -> None:
    table = await begun(room)
    assert table["status"] == "done"
    assert [(w["round"], w["seat"], w["standing"]) for w in table["words"]] == [
        (round, seat, "stated") for round in (1, 2) for seat in "AB"
    ]
    outcomes = {one["claim"]: one["outcome"] for one in table["decisions"]}
    assert outcomes == {"A1": "dissent", "B1": "agreed"}
    assert table["spent"]["chars"] == sum(word["chars"] for word in table["words"])
    assert "one vendor" in table["warning"] or "same model" in table["warning"]
    events = await room.operator.get("/events", subject=table["id"])
    kinds = [one["kind"] for one in events["events"]]
    assert kinds[0] == "roundtable.started" and kinds[-1] == "roundtable.ended"
    assert kinds.count("roundtable.spoke") == 4
    listed = await room.operator.get("/roundtables", conversation=table["conversation"])
    assert [one["id"] for one in listed["items"]] == [table["id"]]


async def test_a_preflight_stores_and_asks_nothing(room: Room) -> None:
    found = await room.operator.post("/roundtables/preflight", body(room, rounds=3))
    shapes.Preflight.model_validate(found)
    assert [(row["round"], row["seat"]) for row in found["rows"]] == [
        (round, seat) for round in (1, 2, 3) for seat in "AB"
    ]
    assert found["chars"] == sum(row["chars"] for row in found["rows"]) < found["naive"]
    assert (await room.operator.get("/roundtables"))["items"] == []
    assert (await room.operator.get("/conversations"))["items"] == []


async def test_a_table_is_steered(room: Room) -> None:
    slow = [{"engine": "scripted", "model": "slow:5"}] * 3
    table = (
        await room.operator.ask("POST", "/roundtables", body(room, seats=slow), key="k")
    ).json()
    path = f"/roundtables/{table['id']}"
    assert (await room.operator.post(f"{path}/pause", {"why": "wait"}))["status"] == "paused"
    said = await room.operator.ask("POST", f"{path}/remarks", {"text": "And backups?"})
    assert said.status_code == 201
    dropped = await room.operator.post(f"{path}/drop", {"seat": "c", "why": "slow"})
    assert dropped["seats"][2]["standing"] == "dropped"
    assert (await room.operator.post(f"{path}/resume"))["status"] == "running"
    stopped = await room.operator.post(f"{path}/stop")
    assert stopped["status"] == "stopped"
    refused(await room.operator.ask("POST", f"{path}/stop"), 409, "conflict")
    refused(await room.operator.ask("POST", f"{path}/resume"), 409, "conflict")
    messages = await room.operator.get(f"/conversations/{table['conversation']}/messages")
    assert [one["text"] for one in messages["items"]][:2] == ["Which store?", "And backups?"]


async def test_another_round_follows(room: Room) -> None:
    table = await begun(room, rounds=1)
    more = await room.operator.ask("POST", f"/roundtables/{table['id']}/rounds", {})
    assert more.status_code == 202
    again = await ended(room, table["id"])
    assert (again["status"], again["round"], again["rounds"]) == ("done", 2, 2)


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"seats": [{"engine": "scripted"}]}, 422, "invalid_input"),
        ({"seats": [{"engine": "scripted"}] * 9}, 422, "invalid_input"),
        ({"seats": [{"engine": "nobody"}] * 2}, 422, "engine_unknown"),
        ({"rounds": 0}, 422, "invalid_input"),
        ({"rounds": 9}, 422, "invalid_input"),
        ({"order": "chaotic"}, 422, "invalid_input"),
        ({"caps": {"chars": 0}}, 422, "invalid_input"),
        ({"caps": {"chars": 100}}, 422, "invalid_input"),
        ({"caps": {"cost": -1}}, 422, "invalid_input"),
        ({"question": " "}, 422, "invalid_input"),
        ({"conversation": "c_nothing"}, 404, "not_found"),
        ({"role": "nobody"}, 404, "not_found"),
        ({"other": 1}, 422, "invalid_input"),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_is_stored(
    room: Room, more: dict[str, Any], status: int, code: str
) -> None:
    answer = await room.operator.ask("POST", "/roundtables", body(room, **more), key="k")
    refused(answer, status, code)
    assert (await room.operator.get("/roundtables"))["items"] == []


async def test_tables_are_the_operator_s_alone(room: Room, bare: httpx.AsyncClient) -> None:
    table = await begun(room, rounds=1)
    agent = await room.join()
    for method, path in (
        ("GET", "/roundtables"),
        ("GET", f"/roundtables/{table['id']}"),
        ("POST", f"/roundtables/{table['id']}/stop"),
        ("POST", "/roundtables"),
    ):
        refused(await agent.ask(method, path), 403, "not_allowed")
    refused(await room.operator.ask("GET", "/roundtables/r_nothing"), 404, "not_found")
