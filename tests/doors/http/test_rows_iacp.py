"""Hostile input to what agents share: each gets its exact answer, and none has an effect."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from doors.http.room import Caller, Room, refused
from doors.http.streaming import Reader
from mufakat.app import App
from mufakat.core.base import ConversationId
from mufakat.server.http import api
from mufakat.services.coordination import credentials, runs

pytestmark = pytest.mark.anyio

TASK = "task:report"
AUDIT = {"access.refused", "identity.conflict", "lease.refused"}


@asynccontextmanager
async def without_effect(app: App) -> AsyncIterator[None]:
    """Nothing was logged but that somebody was refused."""
    before = (await app.feed.head())[1]
    yield
    made = await app.feed.after(before, limit=1000)
    assert {event.kind for event in made} <= AUDIT


async def logged(app: App, kind: str) -> list[Any]:
    return [event for event in await app.feed.after(0, limit=10_000) if event.kind == kind]


async def take(by: Caller, *resources: str, **more: Any) -> Any:
    return await by.post("/leases", {"resources": list(resources or (TASK,)), **more})


def fence(lease: Any) -> int:
    return int(next(iter(lease["fences"].values())))


async def test_row_14_a_token_of_who_left_is_dead(room: Room, app: App) -> None:
    agent = await room.join()
    lease = await take(agent)
    assert (await agent.ask("DELETE", "/agents/me")).status_code == 200
    async with without_effect(app):
        for method, path, body in (
            ("GET", "/agents/me", None),
            ("POST", f"/leases/{lease['id']}/renew", {"fence": fence(lease)}),
            ("POST", "/leases", {"resources": [TASK]}),
            ("GET", "/events", None),
        ):
            answer = await agent.ask(method, path, body)
            refused(answer, 401, "unauthenticated")
            unknown = await Caller(room.http, "mf_" + "x" * 43).ask(method, path, body)
            assert unknown.content == answer.content


async def test_row_15_the_name_of_an_agent_that_is_there(room: Room, app: App) -> None:
    await room.join(alias="builder")
    body = {"engine": "claude", "alias": "builder", "project": room.project}
    async with without_effect(app):
        refused(await room.joiner.ask("POST", "/agents", body), 409, "conflict")
    assert len(await logged(app, "identity.conflict")) == 1


@pytest.mark.parametrize(
    "alias",
    [
        "bu\u0456lder",
        "\uff42uilder",
        "build\u200ber",
        "\u202ebuilder",
        "builder\u0301",
        "builder ",
        "bui1der",
        "me",
        "a\nb",
    ],
)
async def test_row_16_look_alikes(room: Room, app: App, alias: str) -> None:
    await room.join(alias="builder")
    body = {"engine": "claude", "alias": alias, "project": room.project}
    async with without_effect(app):
        refused(await room.joiner.ask("POST", "/agents", body), 422, "invalid_input")


async def test_row_17_from_in_a_body(room: Room, app: App) -> None:
    agent, other = await room.join(), await room.join("claude")
    bodies = {
        "/messages": {"to": [other.identity], "body": "Hello."},
        "/leases": {"resources": [TASK]},
        "/inbox/ack": {"numbers": [1]},
        "/inbox/claim": {},
        "/gate": {"session": "s"},
        "/wait": {"conditions": [{"who": "me", "states": ["idle"]}], "seconds": 0},
    }
    async with without_effect(app):
        for path, body in bodies.items():
            for field in ("from", "sender", "identity", "holder", "as"):
                answer = await agent.ask("POST", path, body | {field: other.identity}, key="k")
                problem = refused(answer, 422, "invalid_input")
                assert problem["fields"][0]["field"] == field


async def test_row_18_acting_for_another(room: Room, app: App) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(other)
    await room.send(room.operator, other)
    report = {"state": "idle", "run": other.record["run"], "ordinal": 99}
    before = await other.get("/agents/me")
    async with without_effect(app):
        answer = await agent.ask("PUT", f"/agents/{other.identity}/state", report)
        refused(answer, 403, "not_allowed")
        refused(await agent.ask("DELETE", f"/agents/{other.identity}"), 403, "not_allowed")
        # A fence that somebody else shows is as good as none.
        stolen = await agent.ask("POST", f"/leases/{lease['id']}/release", {"fence": fence(lease)})
        assert (stolen.status_code, stolen.json().get("answer")) in {(200, "gone"), (403, None)}
        renewed = await agent.ask("POST", f"/leases/{lease['id']}/renew", {"fence": fence(lease)})
        assert renewed.status_code in {403, 409}
        # An inbox has no name in its address: this is the caller's own, and it is empty.
        refused(await agent.ask("POST", "/inbox/ack", {"upto": 1}), 400, "bad_cursor")
    assert (await other.get(f"/leases/{lease['id']}"))["state"] == "live"
    assert (await other.get("/agents/me")) == before
    assert (await other.get("/inbox"))["items"][0]["status"] == "queued"
    told = [event.data for event in await logged(app, "access.refused")]
    assert other.identity in {one["as"] for one in told}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/leases/steal", {"resources": [TASK], "reason": "I want it."}),
        ("GET", "/policy", None),
        ("POST", "/agents/pause", {}),
        ("POST", "/agents/unpause", {}),
        ("POST", "/backup", {}),
        ("POST", "/check", {"deep": False}),
        ("GET", "/doctor", None),
        ("POST", "/turns", {"prompt": "Hello", "project": "/"}),
        ("POST", "/projects", {"path": "/"}),
        ("GET", "/dead-letters", None),
        ("GET", "/agents/me/inbox", None),
        ("GET", "/packs", None),
    ],
)
async def test_row_19_operator_routes(
    room: Room, app: App, method: str, path: str, body: Any
) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(other)
    async with without_effect(app):
        for caller in (agent, room.joiner):
            refused(await caller.ask(method, path, body), 403, "not_allowed")
    assert (await other.get(f"/leases/{lease['id']}"))["state"] == "live"
    told = [event.data["act"] for event in await logged(app, "access.refused")]
    assert f"{method} {path.replace('me', '{name}')}" in told


async def test_row_20_a_run_token_after_the_run(room: Room, app: App) -> None:
    thread = await app.talk.start(room.project)
    turn = await app.turns.ask(_ask(room.project, thread.id))
    await app.turns.wait(turn.id, seconds=20)
    seated = next(one for one in await app.agents.list() if one.identity == turn.identity)

    def begin(tx: Any) -> str:
        agent = next(one for one in tx.agents.list(ConversationId(thread.id)))
        conversation = tx.conversations.get(thread.id)
        return runs.begin(tx, agent, conversation, run="r_test", told=0)

    token = await app.store.write(begin)
    run = Caller(room.http, token)
    assert (await run.get("/agents/me"))["identity"] == seated.identity

    def end(tx: Any) -> None:
        tx.credentials.end(seated.identity, credentials.Life.REVOKED, run="r_test")

    await app.store.write(end)
    async with without_effect(app):
        refused(await run.ask("GET", "/agents/me"), 401, "unauthenticated")
        refused(await run.ask("POST", "/leases", {"resources": [TASK]}), 401, "unauthenticated")


def _ask(project: str, conversation: str) -> Any:
    from mufakat.services.request import Ask

    return Ask(prompt="Hello", project=project, conversation=conversation)


@pytest.mark.parametrize("ttl", [0, -1, 1e9, 4.9, 86_401, "60", "NaN", None, True, [60], {}])
async def test_row_21_ttl(room: Room, app: App, ttl: Any) -> None:
    agent = await room.join()
    lease = await take(agent, "task:mine")
    async with without_effect(app):
        body = {"resources": [TASK], "ttl": ttl}
        refused(await agent.ask("POST", "/leases", body), 422, "invalid_input")
        renewal = {"fence": fence(lease), "ttl": ttl}
        answer = await agent.ask("POST", f"/leases/{lease['id']}/renew", renewal)
        refused(answer, 422, "invalid_input")


@pytest.mark.parametrize("ttl", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_row_21_ttl_that_is_not_json(room: Room, app: App, ttl: str) -> None:
    agent = await room.join()
    content = f'{{"resources": ["{TASK}"], "ttl": {ttl}}}'.encode()
    headers = agent.headers | {"content-type": "application/json"}
    async with without_effect(app):
        answer = await room.http.post("/api/v1/leases", content=content, headers=headers)
        refused(answer, 400, "invalid_json")


@pytest.mark.parametrize("distance", [-(2**20), -1, 1, 2**20, None])
async def test_row_22_another_fence(room: Room, app: App, distance: int | None) -> None:
    agent, other = await room.join(), await room.join("claude")
    old = await take(agent)
    await agent.post(f"/leases/{old['id']}/release", {"fence": fence(old)})
    new = await take(other)
    for caller, lease in ((other, new), (agent, old)):
        wrong = -1 if distance is None else fence(lease) + distance
        if lease is old:
            wrong = fence(old)
        body = {"fence": str(wrong)}
        async with without_effect(app):
            released = await caller.ask("POST", f"/leases/{lease['id']}/release", body)
            assert (released.status_code, released.json()) == (200, {"answer": "gone"})
            renewed = await caller.ask("POST", f"/leases/{lease['id']}/renew", body)
            refused(renewed, 409, "lease_lost")
    assert (await other.get(f"/leases/{new['id']}"))["state"] == "live"
    checked = await agent.post("/leases/check", {"resource": TASK, "fence": fence(new)})
    assert checked == {"valid": True, "holder": other.identity}


@pytest.mark.parametrize(
    "resources",
    [
        ["../../x"],
        ["file:../../x"],
        ["file:/etc/../x"],
        ["task:a\nb"],
        ["task:a\u202eb"],
        ["task:" + "x" * 2048],
        ["task:" + "é" * 300],
        [f"task:{number}" for number in range(33)],
        ["nokind"],
        [":x"],
        ["task:"],
    ],
)
async def test_row_23_resources(room: Room, app: App, resources: list[str]) -> None:
    agent = await room.join()
    async with without_effect(app):
        refused(await agent.ask("POST", "/leases", {"resources": resources}), 422, "invalid_input")


async def test_row_24_a_pattern_that_takes_everything(room: Room, app: App) -> None:
    agent = await room.join()
    async with without_effect(app):
        for pattern in ("/**", "/*/**", "/**/*.py"):
            body = {"resources": [f"file:{room.project}{pattern}"], "rank": 0}
            problem = refused(await agent.ask("POST", "/leases", body), 403, "too_broad")
            assert problem["rule"] == "too_broad"
    await take(agent, f"file:{room.project}/src/**", rank=0)


async def test_row_25_a_class_above_ones_own(room: Room) -> None:
    agent = await room.join()
    lease = await take(agent, rank=3)
    assert lease["rank"] < 3
    assert lease["clamped"] is True
    assert (await take(agent, "task:b"))["clamped"] is False


async def test_row_26_a_circle(room: Room) -> None:
    one, two = await room.join(), await room.join("claude")
    await take(one, "task:a")
    await take(two, "task:b")
    waiting = asyncio.create_task(one.ask("POST", "/leases", {"resources": ["task:b"], "wait": 30}))
    await asyncio.sleep(0.05)
    started = time.monotonic()
    closing = await two.ask("POST", "/leases", {"resources": ["task:a"], "wait": 30})
    problem = refused(closing, 409, "deadlock")
    assert time.monotonic() - started < 3
    assert set(problem["cycle"]) == {one.identity, two.identity}
    lease = (await two.get("/leases", resource="task:b"))["items"][0]
    await two.post(f"/leases/{lease['id']}/release", {"fence": fence(lease)})
    async with asyncio.timeout(20):
        assert (await waiting).status_code == 201


async def test_row_27_a_flood_of_acquires(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    answers = [
        await agent.ask("POST", "/leases", {"resources": [f"task:{number}"]})
        for number in range(60)
    ]
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {201, 429}
    assert statuses[:20] == [201] * 20
    late = next(answer for answer in answers if answer.status_code == 429)
    problem = refused(late, 429, "too_many")
    assert problem["retryable"] is True
    assert late.headers["retry-after"] == "1"
    await take(other, "task:mine")


@pytest.mark.parametrize("upto", [-1, 0, 2, 3, 10**9, 2**62, 2**63])
async def test_row_28_ack_beyond_what_was_delivered(room: Room, app: App, upto: int) -> None:
    agent = await room.join()
    await room.send(room.operator, agent)
    await agent.post("/inbox/claim")
    await room.send(room.operator, agent)
    async with without_effect(app):
        answer = await agent.ask("POST", "/inbox/ack", {"upto": upto})
        # JSON itself ends at 63 bits here.
        refused(answer, 400, "invalid_json" if upto == 2**63 else "bad_cursor")
        if upto < 2**63:
            answer = await agent.ask("POST", "/inbox/ack", {"numbers": [upto]})
            refused(answer, 400, "bad_cursor")
    assert await agent.post("/inbox/ack", {"upto": 1}) == {"acked": 1}


async def test_row_28_an_older_session_acks_nothing(room: Room, app: App) -> None:
    agent = await room.join(session="s")
    await room.send(room.operator, agent)
    await agent.post("/inbox/claim")
    newer = await room.join(session="s")
    async with without_effect(app):
        refused(await agent.ask("POST", "/inbox/ack", {"upto": 1}), 409, "superseded")
        refused(await newer.ask("POST", "/inbox/ack", {"upto": 1}), 400, "bad_cursor")


async def test_row_29_messages_that_are_too_much(room: Room, app: App) -> None:
    agent, other = await room.join(), await room.join("claude", alias="reviewer")
    message = {"to": [other.identity], "body": "Hello."}

    async def send(**change: Any) -> httpx.Response:
        return await agent.ask("POST", "/messages", message | change, key="k")

    async with without_effect(app):
        refused(await send(body="x" * 257 * 1024), 413, "too_large")
        refused(await send(body="é" * 130 * 1024), 413, "too_large")
        refused(await send(to=[f"role:r{n}" for n in range(65)]), 422, "invalid_input")
        problem = refused(await send(to=[other.identity, "reviewr"]), 404, "not_found")
        assert problem["nearest"] == ["reviewer"]
    assert (await other.get("/inbox"))["items"] == []
    assert (await send(body="x" * 256 * 1024)).status_code == 201


@pytest.mark.parametrize(
    ("cursor", "status"),
    [("{epoch}-999999", 409), ("x", 400), ("-1", 400), ("{epoch}-x", 400), ("other-1", 409)],
)
async def test_row_65_cursors_of_an_agent(room: Room, app: App, cursor: str, status: int) -> None:
    agent = await room.join()
    epoch, _ = await app.feed.head()
    answer = await agent.ask("GET", "/events", after=cursor.format(epoch=epoch))
    assert answer.status_code == status


async def test_row_65_another_life_resets_the_stream_of_an_agent(
    room: Room, door: api.Server
) -> None:
    agent = await room.join()
    reader = Reader(door, query="follow=1&after=other-1", headers=agent.headers).start()
    await reader.until(lambda: bool(reader.frames))
    assert reader.frames[0].event == "reset"
    await reader.leave()


async def test_row_66_streams_are_counted_for_each_token(room: Room, door: api.Server) -> None:
    agent, other = await room.join(), await room.join("claude")
    readers = [Reader(door, headers=agent.headers).start() for _ in range(40)]
    readers += [Reader(door, headers=one.headers).start() for one in (other, room.operator)]
    for reader in readers:
        await reader.until(lambda reader=reader: reader.status != 0)  # type: ignore[misc]
    assert sorted(one.status for one in readers[:40]) == [200] * 32 + [429] * 8
    assert [one.status for one in readers[40:]] == [200, 200]
    for reader in readers:
        await reader.leave()
    assert door.streams.open == 0


async def test_row_66_a_stream_tells_an_agent_its_own_part(
    room: Room, door: api.Server, app: App
) -> None:
    agent, alone = await room.join(), await room.join("claude", project="")
    reader = Reader(door, headers=agent.headers).start()
    await reader.until(lambda: reader.status == 200)
    await room.send(room.operator, agent)
    await reader.until(lambda: "inbox.delivered" in [one.event for one in reader.frames])
    await reader.leave()
    seen = [json.loads(one.data) for one in reader.frames if one.data]
    assert alone.identity not in {one.get("subject") for one in seen}
