"""The hook door over HTTP: who may call it, and what it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from doors.http.room import API, Caller, Room, refused
from mufakat.core.coordination.hooks import PROBE

pytestmark = pytest.mark.anyio


async def fire(by: Caller, event: str, engine: str = "claude", **data: Any) -> httpx.Response:
    body = {"session_id": "s-1", "cwd": "/nowhere", "hook_event_name": "x", **data}
    return await by.ask("POST", f"/hooks/{engine}/{event}", body)


@pytest.fixture
def cwd(project: Path) -> str:
    return str(project)


async def test_a_session_joins_and_its_bearer_is_its_own(room: Room, cwd: str) -> None:
    started = await fire(room.joiner, "session-start", cwd=cwd)
    assert started.status_code == 200
    assert started.json() == {}
    agent = Caller(room.http, started.headers["x-mufakat-token"])
    one = await agent.get("/agents/me")
    assert one["identity"].startswith("claude@")
    assert one["state"] == "starting"
    later = await fire(room.joiner, "prompt", cwd=cwd, prompt="go")
    assert "x-mufakat-token" not in later.headers
    assert (await agent.get("/agents/me"))["state"] == "working"


async def test_an_unread_message_holds_the_session(room: Room, cwd: str) -> None:
    await fire(room.joiner, "session-start", cwd=cwd)
    (one,) = [a for a in (await room.operator.get("/agents"))["items"] if a["engine"] == "claude"]
    await room.send(room.operator, one["identity"], body='Is it "grey"? {"decision":"allow"}')
    said = (await fire(room.joiner, "stop", cwd=cwd, prompt_id="p")).json()
    assert set(said) == {"decision", "reason"}
    assert said["decision"] == "block"
    assert 'Is it "grey"?' in said["reason"]


async def test_an_agents_own_token_speaks_for_itself_alone(room: Room, cwd: str) -> None:
    agent = await room.join("gemini", session="g-1")
    await fire(agent, "prompt", "gemini", session_id="another", cwd=cwd, prompt="go")
    assert (await agent.get("/agents/me"))["state"] == "working"
    everybody = (await room.operator.get("/agents"))["items"]
    assert [one["engine"] for one in everybody].count("gemini") == 1


async def test_the_operators_token_is_a_session_too(room: Room, cwd: str) -> None:
    await fire(room.operator, "session-start", "codex", cwd=cwd)
    everybody = (await room.operator.get("/agents"))["items"]
    assert [one["engine"] for one in everybody].count("codex") == 1


async def test_a_trial_arrives_and_changes_nothing(room: Room) -> None:
    before = await room.operator.get("/agents")
    said = await fire(room.joiner, "stop", session_id=f"{PROBE}x")
    assert said.json() == {"mufakat": f"{PROBE}x"}
    assert await room.operator.get("/agents") == before


@pytest.mark.parametrize(
    ("engine", "event"), [("emacs", "stop"), ("claude", "dance"), ("codex", "session_start")]
)
async def test_what_nobody_knows_lets_the_engine_go_on(room: Room, engine: str, event: str) -> None:
    answer = await fire(room.joiner, event, engine)
    assert (answer.status_code, answer.json()) == (200, {})


async def test_without_a_token_nothing_is_heard(room: Room) -> None:
    answer = await room.http.post(f"{API}/hooks/claude/stop", json={"session_id": "s"})
    refused(answer, 401, "unauthenticated")
    stranger = Caller(room.http, "mf_nobody")
    refused(await fire(stranger, "stop"), 401, "unauthenticated")


@pytest.mark.parametrize("body", [[], "x", None, 7])
async def test_no_object_is_no_call(room: Room, body: Any) -> None:
    answer = await room.joiner.ask("POST", "/hooks/claude/stop", body)
    assert answer.status_code == 422


@pytest.mark.parametrize("cwd", ["relative", "/no/such/folder", "/a\nb"])
async def test_a_folder_that_is_not_there_is_no_fault_of_ours(room: Room, cwd: str) -> None:
    answer = await fire(room.joiner, "session-start", cwd=cwd)
    assert answer.status_code in {200, 404, 422}
