"""Agents over HTTP: joining, names, states, rights, and the switch that stops all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from doors.http.room import Caller, Room, refused
from mufakat.app import App
from mufakat.core.coordination.principal import Principal, Right
from mufakat.ports.store import Transaction
from mufakat.sdk import home as homes
from mufakat.server import files
from mufakat.server.http import api, document, rights
from mufakat.server.http.door import PREFIX
from mufakat.server.http.schemas import agents as shapes
from mufakat.services.coordination import credentials

pytestmark = pytest.mark.anyio

BESIDE = {"/metrics"}
"""Addresses that are not of the API, since others say how they are called."""


def blind(tx: Transaction, token: str) -> Principal:
    """The fault: it asks whose a token is, and not whether it still opens anything."""
    found = tx.credentials.get(credentials.digest(token))
    assert found is not None
    return Principal(Right.AGENT, found.identity, epoch=found.epoch)


async def kinds(app: App) -> list[str]:
    return [event.kind for event in await app.feed.after(0, limit=1000)]


async def test_joining_gives_an_identity_and_a_token(room: Room) -> None:
    answer = await room.joiner.ask("POST", "/agents", {"engine": "codex", "project": room.project})
    assert answer.status_code == 201
    shapes.Joined.model_validate_json(answer.content)
    made = answer.json()
    assert made["identity"].startswith("codex@")
    assert (made["state"], made["epoch"], made["resumed"]) == ("starting", 1, False)
    me = await Caller(room.http, made["token"]).get("/agents/me")
    assert me["identity"] == made["identity"]
    shapes.Agent.model_validate(me)


async def test_twin_auth_that_ignores_the_end_lets_in_who_has_left(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await room.join()
    await agent.ask("DELETE", "/agents/me")
    refused(await agent.ask("GET", "/agents/me"), 401, "unauthenticated")
    monkeypatch.setattr(credentials, "principal", blind)
    assert (await agent.ask("GET", "/agents/me")).status_code == 200


async def test_the_same_session_is_the_same_instance_and_ends_the_older_token(room: Room) -> None:
    first = await room.join(session="s-1")
    again = await room.joiner.ask(
        "POST", "/agents", {"engine": "codex", "project": room.project, "session": "s-1"}
    )
    assert again.status_code == 200
    made = again.json()
    assert (made["identity"], made["epoch"], made["resumed"]) == (first.identity, 2, True)
    refused(await first.ask("GET", "/agents/me"), 409, "superseded")
    await Caller(room.http, made["token"]).get("/agents/me")


async def test_twin_auth_that_ignores_the_epoch_lets_the_older_session_in(
    room: Room, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await room.join(session="s-1")
    await room.join(session="s-1")
    refused(await first.ask("GET", "/agents/me"), 409, "superseded")

    monkeypatch.setattr(credentials, "principal", blind)
    assert (await first.ask("GET", "/agents/me")).status_code == 200


async def test_who_leaves_has_no_token_any_more(room: Room) -> None:
    agent = await room.join()
    gone = await agent.ask("DELETE", "/agents/me")
    assert gone.status_code == 200
    assert (gone.json()["state"], gone.json()["on"]) == ("offline", "exited")
    refused(await agent.ask("GET", "/agents/me"), 401, "unauthenticated")
    listed = await room.operator.get("/agents", online=1)
    assert agent.identity not in [one["identity"] for one in listed["items"]]


def test_the_token_to_join_with_is_its_owners_alone(tmp_path: Path) -> None:
    made = files.join_token(tmp_path)
    path = tmp_path / homes.JOIN_TOKEN
    path.chmod(0o644)
    assert files.join_token(tmp_path) == made == path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert files.token(tmp_path) != made


async def test_the_token_to_join_with_is_no_agents(room: Room) -> None:
    for method, path in (("GET", "/agents"), ("GET", "/inbox"), ("GET", "/events")):
        refused(await room.joiner.ask(method, path), 403, "not_allowed")


@pytest.mark.parametrize("field", ["identity", "from", "instance", "epoch", "token"])
async def test_nobody_says_who_they_are(room: Room, field: str) -> None:
    answer = await room.joiner.ask("POST", "/agents", {"engine": "codex", field: "x"})
    assert answer.status_code == 422


async def test_an_agent_is_found_by_prefix_alias_and_me(room: Room) -> None:
    agent = await room.join(alias="builder")
    for name in (agent.identity, agent.identity[:-1], "builder", "me"):
        assert (await agent.get(f"/agents/{name}"))["identity"] == agent.identity
    refused(await agent.ask("GET", "/agents/nobody"), 404, "not_found")


async def test_a_slash_in_a_name_is_part_of_it(room: Room) -> None:
    agent = await room.join()
    for slash in ("/", "%2F"):
        problem = refused(
            await agent.ask("GET", f"/agents/{agent.identity}{slash}sub"), 404, "not_found"
        )
        assert f"{agent.identity}/sub" in problem["detail"]
    refused(await agent.ask("POST", f"/agents/{agent.identity}/state"), 405, "method_not_allowed")


async def test_agents_see_their_own_project_alone(room: Room, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    mine, foreign = await room.join(), await room.join("gemini", project=str(other))
    alone = await room.join("claude", project="")

    async def seen(by: Caller) -> set[str]:
        return {one["identity"] for one in (await by.get("/agents"))["items"]}

    assert await seen(mine) == {mine.identity}
    assert await seen(foreign) == {foreign.identity}
    assert await seen(alone) == {alone.identity}
    assert {mine.identity, foreign.identity, alone.identity} <= await seen(room.operator)
    refused(await mine.ask("GET", f"/agents/{foreign.identity}"), 404, "not_found")
    theirs = foreign.record["project"]
    refused(await mine.ask("GET", "/agents", project=theirs), 403, "not_allowed")


async def test_agents_see_conversations_and_events_of_their_project_alone(
    room: Room, app: App, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    agent, alone = await room.join(), await room.join("claude", project="")
    ours = await app.talk.start(room.project, "Ours")
    theirs = await app.talk.start(str(other), "Theirs")
    await app.talk.say(ours.id, "for us")
    await app.talk.say(theirs.id, "for them")
    listed = await agent.get("/conversations")
    assert ours.id in [one["id"] for one in listed["items"]]
    assert theirs.id not in [one["id"] for one in listed["items"]]
    assert (await alone.get("/conversations"))["items"] == []
    assert (await agent.get(f"/conversations/{ours.id}/messages"))["items"][0]["text"] == "for us"
    refused(await agent.ask("GET", f"/conversations/{theirs.id}"), 404, "not_found")
    refused(await agent.ask("GET", f"/conversations/{theirs.id}/messages"), 404, "not_found")
    events = (await agent.get("/events"))["events"]
    assert ours.id in {one["data"].get("conversation") for one in events}
    assert theirs.id not in {one["data"].get("conversation") for one in events}
    assert alone.identity not in {one["subject"] for one in events}


async def test_twin_without_the_sieve_an_agent_reads_everything(
    room: Room, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mufakat.server import sight

    other = tmp_path / "other"
    other.mkdir()
    agent = await room.join()
    theirs = await app.talk.start(str(other), "Theirs")

    async def everything(app: App, by: Principal) -> sight.Sight:
        return sight.Sight(True, by.identity)

    monkeypatch.setattr(sight, "of", everything)
    events = (await agent.get("/events"))["events"]
    assert theirs.id in {one["data"].get("conversation") for one in events}


async def test_a_state_is_reported_and_a_late_one_refused(room: Room) -> None:
    agent = await room.join()
    run = agent.record["run"]
    report = {"state": "working", "run": run, "ordinal": 5, "detail": "tests"}
    answer = await agent.ask("PUT", "/agents/me/state", report)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["state"], answer.json()["detail"]) == ("working", "tests")
    late = await agent.ask("PUT", "/agents/me/state", report | {"state": "idle", "ordinal": 4})
    problem = refused(late, 409, "stale")
    assert problem["current"]["state"] == "working"
    other = await agent.ask("PUT", "/agents/me/state", report | {"run": "before", "ordinal": 9})
    refused(other, 409, "stale")


@pytest.mark.parametrize(
    "change",
    [
        {"state": "dead"},
        {"state": 1},
        {"run": 5},
        {"ordinal": -1},
        {"ordinal": "1"},
        {"ordinal": True},
        {"on": "love"},
        {"debt": -1},
        {"from": "x"},
        {"expect": "1"},
    ],
)
async def test_a_report_is_checked(room: Room, change: dict[str, Any]) -> None:
    agent = await room.join()
    report = {"state": "working", "run": "r", "ordinal": 5} | change
    refused(await agent.ask("PUT", "/agents/me/state", report), 422, "invalid_input")


async def test_the_operator_pauses_everybody(room: Room, app: App) -> None:
    agent, other = await room.join(), await room.join("claude")
    assert (await room.operator.post("/agents/pause"))["paused"] is True
    message = {"to": [other.identity], "body": "Hello."}
    answer = await agent.ask("POST", "/messages", message, key="k")
    problem = refused(answer, 503, "paused")
    assert problem["retryable"] is True
    assert answer.headers["retry-after"]
    await room.operator.post("/messages", message, key="mine")
    assert (await room.operator.post("/agents/unpause"))["paused"] is False
    await agent.post("/messages", message, key="k")
    assert {"agents.paused", "agents.unpaused"} <= set(await kinds(app))


def routes() -> list[tuple[str, str]]:
    """Every method and address of the API."""
    return [
        (method.upper(), path.removeprefix(PREFIX))
        for path, item in document.build()["paths"].items()
        for method in item
    ]


@pytest.mark.parametrize("right", [Right.AGENT, Right.JOIN])
async def test_who_has_no_right_to_a_route_is_refused(room: Room, app: App, right: Right) -> None:
    caller = await room.join() if right is Right.AGENT else room.joiner
    before = await app.feed.head()
    for method, path in routes():
        if f"{method} {path}" in rights.OPEN or right in rights.TABLE.get(f"{method} {path}", ()):
            continue
        url = re.sub(r"[{}]", "", path if path in BESIDE else f"{PREFIX}{path}")
        answer = await caller.http.request(
            method, url, json={} if method in {"POST", "PUT"} else None, headers=caller.headers
        )
        refused(answer, 403, "not_allowed")
    made = await app.feed.after(before[1], limit=1000)
    assert {event.kind for event in made} == {"access.refused"}


async def test_twin_without_the_table_an_agent_does_what_the_operator_does(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await room.join()
    refused(await agent.ask("POST", "/check", {"deep": False}), 403, "not_allowed")
    monkeypatch.setattr(rights, "permits", lambda by, route: True)
    await agent.post("/check", {"deep": False})


def test_every_row_of_the_table_is_a_route() -> None:
    known = {f"{method} {path}" for method, path in routes()}
    assert set(rights.TABLE) | rights.OPEN <= known


async def test_the_document_says_whose_tokens_a_route_takes() -> None:
    made = document.build()["paths"]
    assert made["/api/v1/health"]["get"]["security"] == []
    assert made["/api/v1/backup"]["post"]["security"] == [{"operator": []}]
    assert made["/api/v1/agents"]["post"]["security"] == [
        {"operator": []},
        {"agent": []},
        {"join": []},
    ]
    assert {path for path in made if not path.startswith(PREFIX)} == BESIDE
    assert api.allowed()
