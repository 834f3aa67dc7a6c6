"""Finding again what was said over HTTP: what is answered, and to whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from doors.http.room import Room, refused

pytestmark = pytest.mark.anyio


async def said(room: Room, folder: str, text: str) -> str:
    thread = await room.operator.post("/conversations", {"project": folder, "title": "A talk"})
    await room.operator.post(f"/conversations/{thread['id']}/messages", {"text": text})
    return str(thread["project"])


async def test_a_person_finds_what_was_said(room: Room) -> None:
    id = await said(room, room.project, "The staging port is 8123.")
    found = await room.operator.get("/recall", q='staging AND "port" -x', project=id)
    (item,) = found["items"]
    assert item["text"] == "human: The staging port is 8123."
    assert item["id"].startswith("m:")
    assert (item["worth"], found["why"], found["next"]) == (1.0, "", None)


async def test_an_agent_finds_its_own_project_alone(room: Room, tmp_path: Path) -> None:
    await said(room, room.project, "The staging port is 8123.")
    other = tmp_path / "other"
    other.mkdir()
    theirs = await said(room, str(other), "The staging port of the other is 9.")
    agent = await room.join()
    found = await agent.get("/recall", q="staging port")
    assert [item["text"] for item in found["items"]] == ["human: The staging port is 8123."]
    answer = await agent.ask("GET", "/recall", q="staging port", project=theirs)
    refused(answer, 403, "not_allowed")


async def test_row_34_a_conversation_of_another_project_is_not_there(
    room: Room, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    thread = await room.operator.post("/conversations", {"project": str(other), "title": "A talk"})
    agent = await room.join()
    answer = await agent.ask("GET", "/recall", q="port", conversation=thread["id"])
    refused(answer, 404, "not_found")


async def test_what_cannot_be_asked_is_refused(room: Room) -> None:
    id = await said(room, room.project, "The staging port is 8123.")
    for query in ({"q": ""}, {"q": "x" * 4_001}, {"q": "x", "limit": 0}, {"q": "x", "chars": 0}):
        answer = await room.operator.ask("GET", "/recall", project=id, **query)
        refused(answer, 422, "invalid_input")
