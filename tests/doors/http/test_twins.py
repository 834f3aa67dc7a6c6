"""The same hostile requests with one guard taken out: each then has its effect.

So the tests beside this one would notice if that guard were missing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from doors.http import wire
from doors.http.streaming import Reader
from mufakat.app import App
from mufakat.core.base import Event
from mufakat.core.coordination.principal import Principal, Right
from mufakat.server import main
from mufakat.server.http import api, auth, guard, json_body
from mufakat.server.http.limits import Limits
from mufakat.settings import Settings

TOKEN = "test-token-0123456789abcdefghijklmnop"
AUTH = {"authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json"}
ENDLESS = 1e6

Fault = Callable[[pytest.MonkeyPatch], None]


def no_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(guard, "examine", lambda scope, rules: None)


def no_auth(patch: pytest.MonkeyPatch) -> None:
    async def anybody(self: auth.Auth, token: str) -> Principal:
        return Principal(Right.OPERATOR, "human@localhost:000000")

    patch.setattr(auth.Auth, "identify", anybody)


def lax_json(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(json_body, "parse", json.loads)


def built(app: App, limits: Limits) -> httpx.AsyncClient:
    door = api.create(app, token=TOKEN, limits=limits)
    transport = httpx.ASGITransport(app=door, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("fault", "headers", "title"),
    [
        pytest.param(no_guard, AUTH | {"host": "evil.example"}, "t", id="row-01-host"),
        pytest.param(no_guard, AUTH | {"origin": "null"}, "t", id="row-02-origin"),
        pytest.param(no_guard, AUTH | {"sec-fetch-site": "cross-site"}, "t", id="row-03-site"),
        pytest.param(no_auth, {"authorization": "Bearer x"}, "t", id="row-05-token"),
        pytest.param(no_auth, {"x-forwarded-for": "127.0.0.1"}, "t", id="row-06-forwarded"),
        pytest.param(lax_json, AUTH, "a\0b", id="row-09-nul"),
        pytest.param(no_guard, AUTH | {"x-http-method-override": "GET"}, "t", id="row-10-override"),
    ],
)
async def test_without_the_guard_there_is_an_effect(
    app: App,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
    headers: dict[str, str],
    title: str,
) -> None:
    content = json.dumps({"project": str(project), "title": title}).encode()
    url = "/api/v1/conversations"
    async with built(app, Limits()) as client:
        before = await app.feed.head()
        refused = await client.post(url, content=content, headers=JSON | headers)
        assert refused.status_code >= 400
        assert await app.feed.head() == before
        fault(monkeypatch)
        taken = await client.post(url, content=content, headers=JSON | headers)
        assert taken.status_code == 201
        assert await app.feed.head() != before


@pytest.mark.anyio
async def test_row_07_twin_without_a_limit_a_large_body_is_taken(app: App, project: Path) -> None:
    thread = await app.talk.start(str(project))
    content = json.dumps({"text": "é" * 600_000}, ensure_ascii=False).encode()
    url = f"/api/v1/conversations/{thread.id}/messages"
    for limits, status in ((Limits(), 413), (Limits(body_bytes=10**9), 201)):
        async with built(app, limits) as client:
            answer = await client.post(url, content=content, headers=JSON | AUTH)
            assert answer.status_code == status


def test_row_07_twin_without_a_deadline_a_silent_client_stays(settings: Settings) -> None:
    with main.in_thread(settings, limits=Limits(body_seconds=ENDLESS)) as server:
        silent = wire.exchange(server, [], seconds=3)
        start = wire.request(
            server,
            "POST /api/v1/projects HTTP/1.1",
            "Content-Type: application/json",
            "Content-Length: 100",
        )
        slow = wire.exchange(server, [start], seconds=3)
    assert (silent.raw, silent.closed) == (b"", False)
    assert (slow.raw, slow.closed) == (b"", False)


@pytest.mark.anyio
async def test_row_66_twin_without_a_limit_every_stream_opens(app: App) -> None:
    door = api.create(app, token=TOKEN, limits=Limits(streams=10**6))
    readers = [Reader(door, headers=AUTH).start() for _ in range(40)]
    for reader in readers:
        await reader.until(lambda reader=reader: reader.status != 0)  # type: ignore[misc]
        await reader.leave()
    assert {reader.status for reader in readers} == {200}


@pytest.mark.anyio
async def test_e6_twin_without_a_deadline_a_stuck_reader_stays(app: App) -> None:
    door = api.create(app, token=TOKEN, limits=Limits(stuck_seconds=ENDLESS))
    stuck = asyncio.Event()

    async def on_send() -> None:
        if stuck.is_set():
            await asyncio.sleep(ENDLESS)

    reader = Reader(door, headers=AUTH, on_send=on_send).start()
    await reader.until(lambda: reader.status == 200)
    stuck.set()
    await app.store.write(lambda tx: tx.events.record(Event("demo.tick", "s")))
    await asyncio.sleep(3)
    assert not reader.aborted
    assert door.streams.open == 1
    assert reader.task is not None
    reader.task.cancel()
    await asyncio.gather(reader.task, return_exceptions=True)


@pytest.mark.anyio
async def test_e7_twin_without_progress_a_filtered_cursor_stands_still(app: App) -> None:
    limits = Limits(progress_seconds=ENDLESS, progress_events=10**9)
    door = api.create(app, token=TOKEN, limits=limits)
    reader = Reader(door, query="follow=1&subject=mine", headers=AUTH).start()
    await reader.until(lambda: reader.status == 200)
    for _ in range(30):
        await app.store.write(lambda tx: tx.events.record(Event("demo.tick", "other")))
    await asyncio.sleep(1)
    await reader.leave()
    assert reader.parser.last_id == ""
