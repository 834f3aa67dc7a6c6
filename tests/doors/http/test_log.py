"""The server's log: one line an event, and no secret in it."""

from __future__ import annotations

import json
import logging
import stat
from pathlib import Path

import httpx
import pytest

from doors.http import wire
from mufakat.app import App
from mufakat.server import log, main
from mufakat.server.http import api
from mufakat.settings import Settings

TOKEN = "test-token-0123456789abcdefghijklmnop"
GITHUB = "ghp_" + "a1B2" * 9


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("mufakat.x", logging.INFO, __file__, 1, message, arguments, None)


@pytest.mark.parametrize(
    "text",
    [
        'a\n{"level":"error","message":"fake"}',
        "a\r\nb",
        "a\u2028b\u2029c\x85d\x0b\x1b[31m\x00",
        "\ud800",
    ],
)
def test_row_61_one_record_is_one_line(text: str) -> None:
    line = log.Formatter().format(record("said %s", text))
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert json.loads(line)["message"] == f"said {text}"


def test_row_62_tokens_in_messages_and_tracebacks() -> None:
    formatter = log.Formatter([TOKEN])
    try:
        raise ValueError(f"bad token {TOKEN} and {GITHUB}")
    except ValueError as problem:
        failed = record("call with %s failed", GITHUB)
        failed.exc_info = (ValueError, problem, problem.__traceback__)
    line = formatter.format(failed)
    assert TOKEN not in line
    assert GITHUB not in line
    assert "[secret:own-token:" in line
    assert "[secret:github-token:" in line


def test_a_task_that_failed_unheard_is_in_the_log(tmp_path: Path) -> None:
    with log.to_file(tmp_path, "info", []) as path:
        logging.getLogger("asyncio").error("Task exception was never retrieved")
    assert "never retrieved" in path.read_text()


def test_row_62_twin_a_plain_formatter_tells_them() -> None:
    assert TOKEN in logging.Formatter().format(record("token %s", TOKEN))


def test_row_62_requests_leave_no_token_in_the_log(settings: Settings) -> None:
    with main.in_thread(settings.model_copy(update={"log_level": "debug"})) as server:
        token = server.token
        with wire.client(server) as http:
            http.get(f"/api/v1/status?token={token}")
            http.get(f"/api/v1/{token}")
            http.post("/api/v1/projects", json={"path": f"/{token}"})
        wire.exchange(server, [b"GET /" + token.encode() + b" \x00\r\n\r\n"])
    text = (settings.home / "logs" / "server.log").read_text()
    assert text
    assert token not in text
    assert all(json.loads(line)["at"].endswith("Z") for line in text.splitlines())


def test_the_log_is_private_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "BYTES", 10_000)
    with log.to_file(tmp_path, "info", []) as path:
        for _ in range(500):
            logging.getLogger("mufakat.test").info("x" * 500)
    parts = list(path.parent.iterdir())
    assert len(parts) == log.FILES + 1
    assert {stat.S_IMODE(part.stat().st_mode) for part in parts} == {0o600}
    assert all(part.stat().st_size <= 10_000 for part in parts)


@pytest.mark.anyio
async def test_a_fault_is_logged_and_shows_nothing(
    app: App, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: object) -> None:
        raise RuntimeError("secret inside: hunter2")

    monkeypatch.setattr(type(app.talk), "projects", broken)
    transport = httpx.ASGITransport(app=api.create(app, token=TOKEN))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        headers = {"authorization": f"Bearer {TOKEN}"}
        answer = await client.get("/api/v1/projects", headers=headers)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text
    assert "hunter2" in caplog.text
    assert answer.headers["x-content-type-options"] == "nosniff"
