"""While PostgreSQL is away: old answers are marked as old, and nothing is decided by them."""

from __future__ import annotations

import asyncio
import functools
import signal
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from doors.http.room import Caller, Room
from equipment import postgres as server
from equipment.postgres import Cluster
from mufakat import app as application
from mufakat.sdk import home as homes
from mufakat.server.http import api, stale
from mufakat.settings import Settings

pytestmark = pytest.mark.anyio
TOKEN = "test-token-0123456789abcdefghijklmnop"
BACK = 15.0
"""Five seconds, with the margin that a busy machine needs."""
SHOWN = ("/snapshot", "/agents", "/agents/me", "/notices", "/conversations")
DECIDING = (
    "GET /leases",
    "GET /leases/{id}",
    "GET /leases/queue",
    "POST /leases/check",
    "POST /leases/guard",
    "POST /gate",
    "GET /inbox",
    "GET /context",
    "POST /wait",
)
"""What somebody acts on."""


@pytest.fixture
def own() -> Iterator[Cluster]:
    """A server that a test may stop."""
    with server.running() as cluster:
        cluster.execute("CREATE DATABASE mine")
        yield cluster


@pytest.fixture
async def room(own: Cluster, tmp_path: Path) -> AsyncIterator[Room]:
    settings = Settings(home=tmp_path / "home", store=own.url("mine"))
    project = tmp_path / "project"
    project.mkdir()
    app = await application.build(settings)
    transport = httpx.ASGITransport(app=api.create(app, token=TOKEN))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        join = (settings.home / homes.JOIN_TOKEN).read_text("ascii").strip()
        yield Room(client, Caller(client, TOKEN), Caller(client, join), str(project))
    await app.close()


@dataclass
class Deciding:
    """An agent that holds a lease, and asks all that decides something."""

    agent: Caller
    lease: dict[str, Any]

    async def ask(self, route: str) -> httpx.Response:
        method, path = route.split(" ")
        resource, fence = next(iter(self.lease["fences"].items()))
        bodies = {
            "/leases/check": {"resource": resource, "fence": fence},
            "/leases/guard": {"paths": [resource.removeprefix("file:")]},
            "/gate": {"session": "one", "turn": "one"},
            "/wait": {"conditions": [{"who": "me", "states": ["idle"]}], "seconds": 0},
        }
        path = path.replace("{id}", self.lease["id"])
        return await self.agent.ask(method, path, bodies.get(path))


async def begun(room: Room) -> Deciding:
    agent = await room.join(session="one")
    body = {"resources": [f"file:{room.project}/one.py"], "ttl": 60}
    return Deciding(agent, await agent.post("/leases", body, key="one"))


async def nothing_is_decided_by_what_is_old(room: Room, own: Cluster) -> None:
    """The check itself: who asked before, and was answered, is refused afterwards."""
    deciding = await begun(room)
    for route in DECIDING:
        assert (await deciding.ask(route)).status_code == 200, route
    own.stop(signal.SIGQUIT)
    for route in DECIDING:
        answer = await deciding.ask(route)
        assert answer.status_code == 503, route
        assert (answer.json()["code"], answer.json()["retryable"]) == ("unavailable", True)


async def test_row_pg_down_no_lease_no_gate_and_no_letter_is_old(room: Room, own: Cluster) -> None:
    await nothing_is_decided_by_what_is_old(room, own)


@pytest.mark.parametrize("route", ["POST /leases/check", "POST /gate", "GET /inbox"])
async def test_twin_a_table_with_one_route_more_answers_it_from_memory(
    room: Room, own: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, route: str
) -> None:
    more = {*stale.ROUTES, route}
    monkeypatch.setattr(stale, "Stale", functools.partial(stale.Stale, routes=more))
    settings = Settings(home=tmp_path / "other", store=own.url("mine"))
    app = await application.build(settings)
    transport = httpx.ASGITransport(app=api.create(app, token=TOKEN))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        join = (settings.home / homes.JOIN_TOKEN).read_text("ascii").strip()
        faulty = Room(client, Caller(client, TOKEN), Caller(client, join), room.project)
        with pytest.raises(AssertionError, match=route):
            await nothing_is_decided_by_what_is_old(faulty, own)
    await app.close()


async def test_row_pg_down_reads_are_the_last_ones_and_say_so(room: Room, own: Cluster) -> None:
    agent, other = await room.join(), await room.join()
    before = {path: await agent.get(path) for path in SHOWN}
    await room.operator.get("/projects")
    own.stop(signal.SIGQUIT)
    for path, fresh in before.items():
        answer = await agent.ask("GET", path)
        assert answer.status_code == 200, path
        old = answer.json()
        assert old.pop("stale") is True
        assert answer.headers["mufakat-stale-since"] == old.pop("stale_since")
        assert old == fresh
    assert (await room.operator.ask("GET", "/projects")).json()["stale"]
    # Nobody gets what another was told, and what was never asked is not known.
    for caller in (other, Caller(room.http, "x" * 43)):
        assert (await caller.ask("GET", "/agents")).status_code == 503
    assert (await agent.ask("GET", "/agents", online="1")).status_code == 503
    sent = await agent.ask("POST", "/messages", {"to": [other.identity], "body": "x"}, key="k")
    assert (sent.status_code, sent.json()["retryable"]) == (503, True)


async def test_row_pg_down_is_over_without_an_operator(room: Room, own: Cluster) -> None:
    agent = await room.join()
    await agent.get("/agents")
    own.stop(signal.SIGQUIT)
    assert (await agent.get("/agents"))["stale"]
    own.start()
    begin = time.monotonic()
    while "stale" in (found := await agent.get("/agents")):
        assert time.monotonic() - begin < BACK
        await asyncio.sleep(0.05)
    await room.join()
    assert len((await agent.get("/agents"))["items"]) == len(found["items"]) + 1


async def test_a_file_is_never_away_and_nothing_is_kept_of_it(tmp_path: Path) -> None:
    app = await application.build(Settings(home=tmp_path / "home"))
    assert app.store.away is False
    assert not isinstance(api.create(app, token=TOKEN).layers.app, stale.Stale)  # type: ignore[attr-defined]
    await app.close()


def test_only_reads_that_decide_nothing_are_in_the_table() -> None:
    addresses = {
        f"{method} {route.path}"
        for subject in api.SUBJECTS
        for route in subject.router.routes
        for method in getattr(route, "methods", ())
    }
    assert addresses >= stale.ROUTES
    deciding = ("/leases", "/inbox", "/context", "/events", "/gate", "/turns", "/wait")
    for route in stale.ROUTES:
        assert route.startswith("GET /")
        assert not any(word in route for word in deciding)


class Behind:
    """What lies behind the memory: answers as it is told."""

    def __init__(self) -> None:
        self.status = 200
        self.body = b'{"items":[]}'

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": self.body})


class Memory:
    """A memory over something simple, with a clock that the test moves."""

    def __init__(self) -> None:
        self.behind, self.time, self.away = Behind(), 0.0, True
        layer = stale.Stale(self.behind, lambda: self.away, prefix="", clock=lambda: self.time)
        transport = httpx.ASGITransport(app=layer)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    async def get(self, path: str = "/agents", *, bearer: str = "one") -> int:
        answer = await self.http.get(path, headers={"authorization": f"Bearer {bearer}"})
        return answer.status_code

    async def down(self, path: str = "/agents", *, bearer: str = "one") -> int:
        """What is answered while behind it nothing goes."""
        self.behind.status = 503
        try:
            return await self.get(path, bearer=bearer)
        finally:
            self.behind.status = 200


async def test_an_answer_is_shown_for_an_hour() -> None:
    memory = Memory()
    assert (await memory.get(), await memory.down()) == (200, 200)
    memory.time = stale.SECONDS - 1
    assert await memory.down() == 200
    memory.time = stale.SECONDS
    assert await memory.down() == 503


@pytest.mark.parametrize("status", [401, 409])
async def test_who_is_refused_loses_what_was_kept(status: int) -> None:
    memory = Memory()
    for bearer in ("one", "two"):
        await memory.get(bearer=bearer)
    memory.behind.status = status
    assert await memory.get("/notices") == status
    assert await memory.down() == 503
    assert await memory.down(bearer="two") == 200


async def test_another_503_is_left_alone_and_so_is_who_waits() -> None:
    memory = Memory()
    await memory.get()
    await memory.get("/agents?wait=5")
    assert await memory.down("/agents?wait=5") == 503
    memory.away = False
    assert await memory.down() == 503


async def test_the_oldest_answers_give_way() -> None:
    memory = Memory()
    memory.behind.body = b'{"x":"' + b"x" * (stale.LARGEST_BYTES - 8) + b'"}'
    many = stale.MOST_BYTES // stale.LARGEST_BYTES
    for number in range(many + 1):
        await memory.get(f"/agents/{number}")
    assert await memory.down("/agents/0") == 503
    assert [await memory.down(f"/agents/{one}") for one in (1, many)] == [200, 200]
    memory.behind.body += b" "
    await memory.get("/agents/big")
    assert await memory.down("/agents/big") == 503
