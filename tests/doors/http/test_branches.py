"""Branches over HTTP: begun, listed as a tree, adopted, put away, deleted, and by whom."""

from __future__ import annotations

import pytest

from doors.http.room import Room, refused

pytestmark = pytest.mark.anyio


async def talk(room: Room, *texts: str, folder: str = "") -> str:
    body = {"project": folder or room.project, "title": "Talk"}
    id: str = (await room.operator.post("/conversations", body))["id"]
    for text in texts or ("One.", "Two."):
        await room.operator.post(f"/conversations/{id}/messages", {"text": text})
    return id


async def test_a_branch_from_its_beginning_to_its_end(room: Room) -> None:
    me, id = room.operator, await talk(room)
    answer = await me.ask("POST", f"/conversations/{id}/branches", {"message": "m:1"}, key="k-1")
    assert answer.status_code == 201
    made = answer.json()
    assert answer.headers["location"] == f"/api/v1/branches/{made['id']}"
    assert (made["parent"], made["number"], made["depth"], made["status"]) == (id, 1, 1, "open")
    again = await me.post(f"/conversations/{id}/branches", {"message": "m:1"}, key="k-1")
    assert again == made
    by_id = await me.post(f"/conversations/{id}/branches", {"message": made["checkpoint"]})
    assert by_id["number"] == 1
    await me.post(f"/conversations/{made['id']}/messages", {"text": "We decided on a queue."})
    inner = await me.post(f"/conversations/{made['id']}/branches", {"title": "Inner"})
    assert (inner["depth"], inner["conversation"]["title"]) == (2, "Inner")
    tree = await me.get("/branches", conversation=id)
    assert [one["id"] for one in tree["items"]] == [made["id"], inner["id"], by_id["id"]]
    named = await me.ask("PUT", f"/branches/{inner['id']}/title", {"title": "Other"})
    assert named.json()["conversation"]["title"] == "Other"
    adopted = await me.post(f"/branches/{made['id']}/adopt", {})
    assert (adopted["status"], adopted["summary_number"]) == ("adopted", 3)
    last = (await me.get(f"/conversations/{id}/messages", after=2))["items"][0]
    assert last["id"] == adopted["summary"] and "We decided on a queue." in last["text"]
    assert (await me.post(f"/branches/{by_id['id']}/archive"))["status"] == "archived"
    shown = [one["id"] for one in (await me.get("/branches", conversation=id))["items"]]
    assert by_id["id"] not in shown
    every = await me.get("/branches", conversation=id, archived=1)
    assert by_id["id"] in [one["id"] for one in every["items"]]
    refused(await me.ask("DELETE", f"/branches/{made['id']}"), 409, "conflict")
    assert (await me.ask("DELETE", f"/branches/{inner['id']}")).json()["status"] == "deleted"
    refused(await me.ask("GET", f"/branches/{inner['id']}"), 404, "not_found")
    refused(await me.ask("GET", f"/conversations/{inner['id']}/messages"), 404, "not_found")


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/conversations/{id}/branches", {"message": "m:9"}, 404, "not_found"),
        ("/conversations/{id}/branches", {"message": "a b"}, 422, "invalid_input"),
        ("/conversations/{id}/branches", {"title": "x" * 201}, 422, "invalid_input"),
        ("/conversations/c_none/branches", {}, 404, "not_found"),
        ("/branches/{id}/adopt", {}, 404, "not_found"),
        ("/branches/{id}/archive", {}, 404, "not_found"),
        ("/branches/{id}/archive", {"x": 1}, 422, "invalid_input"),
    ],
)
async def test_what_cannot_be_is_named(
    room: Room, path: str, body: dict[str, object], status: int, code: str
) -> None:
    id = await talk(room)
    answer = await room.operator.ask("POST", path.format(id=id), body)
    assert answer.json()["code"] == code, answer.text
    assert answer.status_code == status


async def test_an_empty_conversation_has_no_message_to_branch_from(room: Room) -> None:
    body = {"project": room.project}
    id = (await room.operator.post("/conversations", body))["id"]
    answer = await room.operator.ask("POST", f"/conversations/{id}/branches", {})
    refused(answer, 404, "not_found")


async def test_an_agent_sees_branches_of_its_project_and_changes_none(
    room: Room, tmp_path_factory: pytest.TempPathFactory
) -> None:
    id = await talk(room)
    away = await talk(room, folder=str(tmp_path_factory.mktemp("other")))
    own = await room.operator.post(f"/conversations/{id}/branches")
    other = await room.operator.post(f"/conversations/{away}/branches")
    agent = await room.join()
    assert [one["id"] for one in (await agent.get("/branches"))["items"]] == [own["id"]]
    assert (await agent.get(f"/branches/{own['id']}"))["id"] == own["id"]
    refused(await agent.ask("GET", f"/branches/{other['id']}"), 404, "not_found")
    refused(await agent.ask("GET", f"/branches?conversation={away}"), 404, "not_found")
    for method, path, body in (
        ("POST", f"/conversations/{id}/branches", {}),
        ("POST", f"/branches/{own['id']}/adopt", {"text": "x"}),
        ("POST", f"/branches/{own['id']}/archive", {}),
        ("PUT", f"/branches/{own['id']}/title", {"title": "x"}),
        ("DELETE", f"/branches/{own['id']}", None),
    ):
        refused(await agent.ask(method, path, body), 403, "not_allowed")


async def test_an_agent_from_outside_recalls_no_branch_that_was_not_adopted(room: Room) -> None:
    id = await talk(room, "We talk about the parser.")
    made = await room.operator.post(f"/conversations/{id}/branches")
    await room.operator.post(
        f"/conversations/{made['id']}/messages", {"text": "The parser needs a ZEBRAFISH."}
    )
    agent = await room.join()

    async def found(caller: object) -> bool:
        query = {"q": "parser ZEBRAFISH", "project": made["conversation"]["project"]}
        return "ZEBRAFISH." in str(await caller.get("/recall", **query))  # type: ignore[attr-defined]

    assert not await found(agent) and await found(room.operator)
    await room.operator.post(f"/branches/{made['id']}/adopt", {"text": "It works."})
    assert await found(agent)
    await room.operator.ask("DELETE", f"/branches/{made['id']}")
    assert not await found(agent) and not await found(room.operator)


async def test_an_agent_that_follows_the_log_outlives_a_deleted_branch(room: Room) -> None:
    id = await talk(room)
    made = await room.operator.post(f"/conversations/{id}/branches")
    await room.operator.post(f"/conversations/{made['id']}/messages", {"text": "Inside."})
    await room.operator.ask("DELETE", f"/branches/{made['id']}")
    agent = await room.join()
    kinds = [one["kind"] for one in (await agent.get("/events", limit=500))["events"]]
    assert {"branch.added", "branch.deleted"} <= set(kinds)


async def test_mail_into_a_closed_branch_is_refused(room: Room) -> None:
    id = await talk(room)
    made = await room.operator.post(f"/conversations/{id}/branches")
    await room.operator.post(f"/branches/{made['id']}/archive")
    body = {"thread": made["id"], "body": "Hello.", "intent": "inform", "to": []}
    answer = await room.operator.ask("POST", "/messages", body, key="mail-1")
    assert answer.status_code >= 400
    refused(
        await room.operator.ask("POST", f"/conversations/{made['id']}/messages", {"text": "x"}),
        409,
        "conflict",
    )
