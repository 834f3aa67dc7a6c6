"""Hostile requests: each gets its exact answer, and none has an effect."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from mufakat import app as application
from mufakat.app import App
from mufakat.server import files
from mufakat.server.http import api
from mufakat.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[App]:
    """One for all, since nothing here may have an effect."""
    home = tmp_path_factory.mktemp("rows") / "home"
    built = await application.build(Settings(home=home, default_engine="scripted"))
    try:
        yield built
    finally:
        await built.close()


PROJECTS = "/api/v1/projects"
JSON = {"content-type": "application/json"}


def tree(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


@asynccontextmanager
async def without_effect(app: App, project: Path) -> AsyncIterator[None]:
    """Nothing was logged, no file came or went, and no turn started."""

    async def state() -> tuple[Any, ...]:
        turns = await app.turns.list()
        return (
            await app.feed.head(),
            len(await app.talk.projects()),
            [(one.id, one.status) for one in turns],
            tree(project),
            tree(app.settings.home / "agents"),
        )

    before = await state()
    yield
    assert await state() == before


def body(project: Path) -> bytes:
    return json.dumps({"path": str(project)}).encode()


async def test_the_same_request_without_the_hostile_part_is_taken(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    before = await app.feed.head()
    answer = await client.post(PROJECTS, content=body(project), headers=JSON)
    assert answer.status_code == 200
    assert await app.feed.head() != before


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8080",
        "evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "localhost.",
        "",
        "[::1",
        "10.0.0.1",
    ],
)
async def test_row_01_foreign_host(
    client: httpx.AsyncClient, app: App, project: Path, host: str
) -> None:
    async with without_effect(app, project):
        answer = await client.post(PROJECTS, content=body(project), headers={**JSON, "host": host})
        assert answer.status_code == 421
        assert answer.json()["code"] == "misdirected"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:80"])
async def test_row_01_own_names_are_known(client: httpx.AsyncClient, host: str) -> None:
    answer = await client.get("/api/v1/health", headers={"host": host})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1:3000",
        "http://127.0.0.1.evil.example",
        "file://127.0.0.1",
        "http://[",
    ],
)
async def test_row_02_foreign_origin(
    client: httpx.AsyncClient, app: App, project: Path, origin: str
) -> None:
    async with without_effect(app, project):
        answer = await client.post(
            PROJECTS, content=body(project), headers={**JSON, "origin": origin}
        )
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


async def test_row_02_own_origin_is_taken(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/status", headers={"origin": "http://127.0.0.1"})
    assert answer.status_code == 200


async def test_row_03_cross_site_and_token_in_url(bare: httpx.AsyncClient, app: App) -> None:
    url = "/api/v1/status?token=test-token-0123456789abcdefghijklmnop"
    answer = await bare.get(url, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    for name in ("token=", "access_token="):
        assert (await bare.get(url.replace("token=", name))).status_code == 401


@pytest.mark.parametrize(
    "media",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "multipart/form-data; boundary=x"},
        {"content-type": "application/json; charset=utf-16"},
        {"content-type": "application/jsonp"},
        {},
    ],
)
async def test_row_04_body_that_is_not_json(
    client: httpx.AsyncClient, app: App, project: Path, media: dict[str, str]
) -> None:
    async with without_effect(app, project):
        answer = await client.post(PROJECTS, content=body(project), headers=media)
        assert answer.status_code == 415


async def test_row_05_no_or_wrong_token(bare: httpx.AsyncClient, app: App, project: Path) -> None:
    async with without_effect(app, project):
        answers = [
            await bare.post(PROJECTS, content=body(project), headers={**JSON, **wrong})
            for wrong in (
                {},
                {"authorization": ""},
                {"authorization": "Bearer"},
                {"authorization": "Bearer wrong"},
                {"authorization": "Basic dGVzdDp0ZXN0"},
                {"authorization": "test-token-0123456789abcdefghijklmnop"},
                {"cookie": "token=test-token-0123456789abcdefghijklmnop"},
            )
        ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert len({str(answer.headers) for answer in answers}) == 1


async def test_row_05_the_size_of_the_token_is_limited(bare: httpx.AsyncClient) -> None:
    headers = {"authorization": "Bearer " + "x" * 1_000_000}
    assert (await bare.get("/api/v1/status", headers=headers)).status_code == 431


async def test_row_06_forwarded_headers_are_ignored(
    bare: httpx.AsyncClient, app: App, project: Path
) -> None:
    claims = {
        "x-forwarded-for": "127.0.0.1",
        "forwarded": "for=127.0.0.1;host=localhost",
        "x-forwarded-host": "localhost",
        "x-real-ip": "127.0.0.1",
    }
    async with without_effect(app, project):
        answer = await bare.post(PROJECTS, content=body(project), headers={**JSON, **claims})
        assert answer.status_code == 401
        evil = await bare.get("/api/v1/health", headers={**claims, "host": "evil.example"})
        assert evil.status_code == 421


async def test_row_07_body_over_a_mebibyte(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    large = json.dumps({"path": "/" + "x" * 1_100_000}).encode()

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(large), 65_536):
            yield large[at : at + 65_536]

    async with without_effect(app, project):
        for content in (large, chunks()):
            answer = await client.post(PROJECTS, content=content, headers=JSON)
            assert answer.status_code == 413
            assert answer.json()["code"] == "too_large"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "gzip, identity", "GZIP"])
async def test_row_08_compressed_body(
    client: httpx.AsyncClient, app: App, project: Path, coding: str
) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    async with without_effect(app, project):
        answer = await client.post(
            PROJECTS, content=bomb, headers={**JSON, "content-encoding": coding}
        )
        assert answer.status_code == 415


@pytest.mark.parametrize(
    ("content", "status"),
    [
        pytest.param(b"[" * 100_000, 400, id="deep-open"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, 400, id="deep"),
        pytest.param(b'{"path":' * 200 + b"1" + b"}" * 200, 400, id="deep-objects"),
        pytest.param(b'{"path": NaN}', 400, id="nan"),
        pytest.param(b'{"path": -Infinity}', 400, id="infinity"),
        pytest.param(b'{"path": 1e999}', 400, id="too-large"),
        pytest.param(b'{"path":"/a","path":"/b"}', 400, id="twice"),
        pytest.param(b'{"path": ' + b"9" * 5_000 + b"}", 400, id="long-integer"),
        pytest.param(b'{"path": 9223372036854775808}', 400, id="65-bit"),
        pytest.param(b'\xef\xbb\xbf{"path":"/a"}', 422, id="bom"),
        pytest.param('{"path":"/a"}'.encode("utf-16"), 422, id="utf-16"),
        pytest.param(b'{"path":"/a\\ud800b"}', 422, id="surrogate"),
        pytest.param(b'{"path":"/a\\u0000b"}', 422, id="nul-escape"),
        pytest.param(b'{"path":"/a\x00b"}', 422, id="nul"),
        pytest.param(b'{"path":"/a\xff"}', 400, id="not-utf-8"),
        pytest.param(b'{"path":"/a"', 400, id="cut"),
        pytest.param(b'{"path":"/a"} x', 400, id="more"),
        pytest.param(b"{'path':'/a'}", 400, id="single-quotes"),
        pytest.param(b'"' + b'\\"' * 500_000, 400, id="unfinished-string"),
        pytest.param(b"null", 422, id="null"),
        pytest.param(b"[]", 422, id="list"),
        pytest.param(b'{"path": 5}', 422, id="wrong-type"),
        pytest.param(b'{"path": "/a", "from": "me"}', 422, id="unknown-member"),
        pytest.param(b"", 422, id="empty"),
    ],
)
async def test_row_09_bad_json(
    client: httpx.AsyncClient, app: App, project: Path, content: bytes, status: int
) -> None:
    async with without_effect(app, project):
        answer = await client.post(PROJECTS, content=content, headers=JSON)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["fix"]


async def test_row_09_escaped_backslash_is_no_escape(
    client: httpx.AsyncClient, project: Path
) -> None:
    content = b'{"path":"/nowhere\\\\u0000"}'
    answer = await client.post(PROJECTS, content=content, headers=JSON)
    assert answer.json()["code"] == "invalid_input"


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "DELETE", "PUT", "PATCH"])
async def test_row_10_methods(
    client: httpx.AsyncClient, app: App, project: Path, method: str
) -> None:
    async with without_effect(app, project):
        answer = await client.request(method, PROJECTS)
        assert answer.status_code == 405
        assert answer.headers["allow"]


@pytest.mark.parametrize("name", ["x-http-method-override", "x-http-method", "x-method-override"])
async def test_row_10_method_override(
    client: httpx.AsyncClient, app: App, project: Path, name: str
) -> None:
    async with without_effect(app, project):
        answer = await client.get(PROJECTS, headers={name: "POST"})
        assert answer.status_code == 405


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/%2e%2e/%2e%2e/etc/passwd", 404),
        ("/api/v1/projects/%2e%2e%2fturns", 404),
        ("//api/v1/projects", 404),
        ("/api/v1//projects", 404),
        ("/api/v1/projects/", 404),
        ("/api/v1/projects/%00", 400),
        ("/api/v1/projects/a%0d%0ab", 400),
        ("/api/v1/projects/%ff", 422),
        ("/api/v1/projects/" + "a" * 65, 422),
        ("/api/v1/projects/" + "a" * 9_000, 414),
        ("/api/v1/projects?before=" + "a" * 9_000, 414),
        ("/docs", 404),
        ("/openapi.json", 404),
        ("/", 404),
    ],
)
async def test_row_11_paths(
    client: httpx.AsyncClient, app: App, project: Path, path: str, status: int
) -> None:
    async with without_effect(app, project):
        url = httpx.URL(scheme="http", host="127.0.0.1", raw_path=path.encode())
        answer = await client.get(url)
        assert answer.status_code == status


@pytest.mark.parametrize("key", [b"", b"k" * 1024, b"a\nb", b"a b", "ключ".encode(), b"k" * 129])
async def test_row_12_bad_idempotency_key(
    client: httpx.AsyncClient, app: App, project: Path, key: bytes
) -> None:
    content = json.dumps({"project": str(project)}).encode()
    headers = [(b"content-type", b"application/json"), (b"idempotency-key", key)]
    async with without_effect(app, project):
        answer = await client.post("/api/v1/conversations", content=content, headers=headers)
        assert answer.status_code == 422


async def test_row_13_same_key_other_payload(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    key = {"idempotency-key": "0123456789"}
    url = "/api/v1/conversations"
    first = {"project": str(project), "title": "One"}
    made = (await client.post(url, json=first, headers=key)).json()
    async with without_effect(app, project):
        again = await client.post(url, json=first, headers=key)
        assert again.json()["id"] == made["id"]
        other = await client.post(url, json=first | {"title": "Two"}, headers=key)
        assert other.status_code == 409
        assert other.json()["code"] == "idempotency_conflict"


async def test_row_13_same_key_same_turn(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    key = {"idempotency-key": "turn-1"}
    ask = {"prompt": "Hello", "project": str(project)}
    first = (await client.post("/api/v1/turns", json=ask, headers=key)).json()
    await client.get(f"/api/v1/turns/{first['id']}?wait=20")
    async with without_effect(app, project):
        again = await client.post("/api/v1/turns", json=ask, headers=key)
        assert again.json()["id"] == first["id"]
        other = await client.post("/api/v1/turns", json=ask | {"prompt": "Ho"}, headers=key)
        assert other.status_code == 409


async def test_row_14_a_replaced_token_is_dead(app: App, project: Path) -> None:
    home = app.settings.home
    old = files.token(home)
    (home / "token").unlink()
    new = files.token(home)
    assert new != old
    transport = httpx.ASGITransport(app=api.create(app, token=new))
    async with (
        without_effect(app, project),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        replay = {"authorization": f"Bearer {old}", **JSON}
        refused = await client.post(PROJECTS, content=body(project), headers=replay)
        assert refused.status_code == 401
        unknown = {"authorization": "Bearer x", **JSON}
        same = await client.post(PROJECTS, content=body(project), headers=unknown)
        assert refused.content == same.content
