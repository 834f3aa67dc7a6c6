"""Searching code over HTTP: what is answered, who may ask, and what is never read."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from doors.http.room import Caller, Room, refused
from mufakat.app import App
from mufakat.core.secrets import Scrubbed
from mufakat.retrieval.code import refresh
from mufakat.retrieval.code.rawq import Rawq
from mufakat.services.knowledge import index_news, place

pytestmark = pytest.mark.anyio

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def code(project: Path) -> Path:
    (project / "store.py").write_text("class SessionStore:\n    def open(self):\n        pass\n")
    (project / "keys.py").write_text(f'ACCESS = "{TOKEN}"\n')
    return project


async def indexed(room: Room, caller: Caller) -> str:
    """The room's project, once it is indexed."""
    id: str = (await room.operator.post("/projects", {"path": room.project}))["id"]
    answer = await caller.ask("POST", f"/projects/{id}/index", {})
    assert answer.status_code == 202, answer.text
    await made(caller, id)
    return id


async def made(caller: Caller, id: str) -> dict[str, Any]:
    """The state of an index once nobody makes it any more."""
    for _ in range(1_000):
        state: dict[str, Any] = await caller.get(f"/projects/{id}/index")
        if not state["running"]:
            return state
        await asyncio.sleep(0.02)
    raise AssertionError("the index was not made")


async def test_a_person_searches_a_project(room: Room, code: Path) -> None:
    id = await indexed(room, room.operator)
    found = await room.operator.get("/search/code", q="SessionStore", project=id)
    hit = found["items"][0]
    assert (hit["path"], hit["start"], hit["end"]) == ("store.py", 1, 3)
    assert (hit["symbol"], hit["size"]) == ("SessionStore", len(hit["text"]))
    assert found["why"] == ""


async def test_the_state_of_the_index(room: Room, code: Path) -> None:
    (code / "link.py").symlink_to("/etc/passwd")
    id = await indexed(room, room.operator)
    state = await room.operator.get(f"/projects/{id}/index")
    assert (state["files"], state["changed"], state["error"]) == (3, 3, "")
    assert state["skipped"] == [{"path": "link.py", "why": "a link"}]


async def test_an_exact_text(room: Room, code: Path) -> None:
    id = await indexed(room, room.operator)
    found = await room.operator.get("/search/code", q="def open(self)", project=id, way="exact")
    assert [(hit["path"], hit["start"]) for hit in found["items"]] == [("store.py", 2)]
    answer = await room.operator.ask("GET", "/search/code", q="ACCESS =", project=id, way="exact")
    assert answer.json()["items"] and TOKEN not in answer.text


async def test_the_files_that_a_change_touches(room: Room, code: Path) -> None:
    (code / "keys").mkdir()
    (code / "keys" / f"{TOKEN}.py").write_text("class SessionStore: ...\n")
    id = await indexed(room, room.operator)
    answer = await room.operator.ask(
        "GET", "/search/code", q="Open the SessionStore", project=id, way="files", chars=400
    )
    found = answer.json()
    assert found["items"][0]["path"] == "store.py"
    assert found["items"][0]["text"] == ""
    assert "store.py" in found["listing"].split()
    assert len(found["listing"]) <= 400
    assert TOKEN not in found["listing"]


async def test_an_engine_that_is_not_there(
    room: Room, code: Path, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.knowledge.code, "_rawq", Rawq({}))
    id = await indexed(room, room.operator)
    answer = await room.operator.ask("GET", "/search/code", q="open", project=id, way="rawq")
    refused(answer, 503, "unavailable")


async def test_a_person_has_the_index_made_anew_and_stopped(room: Room, code: Path) -> None:
    id = await indexed(room, room.operator)
    answer = await room.operator.ask("POST", f"/projects/{id}/index", {"anew": True})
    assert (answer.status_code, answer.json()["complete"]) == (202, False)
    state = await made(room.operator, id)
    assert (state["changed"], state["complete"]) == (3, True)
    stopped = await room.operator.ask("POST", f"/projects/{id}/index/cancel", {})
    assert (stopped.status_code, stopped.json()["running"]) == (200, False)


async def test_an_agent_neither_makes_it_anew_nor_stops_it(room: Room, code: Path) -> None:
    agent = await room.join()
    id = await indexed(room, agent)
    refused(await agent.ask("POST", f"/projects/{id}/index", {"anew": True}), 403, "not_allowed")
    refused(await agent.ask("POST", f"/projects/{id}/index/cancel", {}), 403, "not_allowed")


async def test_a_long_indexing_is_told_in_the_log(
    room: Room, code: Path, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_news, "LONG", 2)
    monkeypatch.setattr(index_news, "LOOK", 0.01)
    real = refresh.reading.read

    def slow(folder: int, path: str, *, largest: int) -> refresh.reading.Content:
        time.sleep(0.2)
        return real(folder, path, largest=largest)

    monkeypatch.setattr(refresh.reading, "read", slow)
    id = await indexed(room, room.operator)
    for _ in range(500):
        page = await room.operator.get("/events", kinds="index.progress,index.ended", limit=50)
        if page["events"] and page["events"][-1]["kind"] == "index.ended":
            break
        await asyncio.sleep(0.02)
    first, last = page["events"][0], page["events"][-1]
    assert (first["kind"], first["subject"]) == ("index.progress", id)
    assert first["data"] == {"project": id, "done": 0, "of": 3}
    assert last["data"] == {"project": id, "files": 3, "complete": True, "error": ""}


async def test_an_agent_searches_its_own_project(room: Room, code: Path) -> None:
    agent = await room.join()
    await indexed(room, agent)
    assert (await agent.get("/search/code", q="SessionStore"))["items"][0]["path"] == "store.py"


async def test_row_34_another_project_is_refused(room: Room, code: Path, tmp_path: Path) -> None:
    agent = await room.join()
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.py").write_text("hidden_treasure = 1\n")
    id = (await room.operator.post("/projects", {"path": str(other)}))["id"]
    refused(await agent.ask("GET", "/search/code", q="treasure", project=id), 403, "not_allowed")
    refused(await agent.ask("GET", f"/projects/{id}/index"), 403, "not_allowed")
    refused(await agent.ask("POST", f"/projects/{id}/index", {}), 403, "not_allowed")
    assert (await agent.get("/search/code", q="treasure"))["items"] == []
    seen = await room.operator.get("/search/code", q="treasure", project=id)
    assert seen["items"][0]["path"] == "secret.py"


async def test_who_has_not_joined_is_refused(room: Room, code: Path) -> None:
    answer = await room.joiner.ask("GET", "/search/code", q="SessionStore")
    assert answer.status_code in {401, 403}


async def test_secrets_in_code_do_not_leave(room: Room, code: Path) -> None:
    id = await indexed(room, room.operator)
    answer = await room.operator.ask("GET", "/search/code", q="ACCESS", project=id)
    assert TOKEN not in answer.text
    assert "[secret:" in answer.text


@pytest.mark.parametrize(
    "query",
    ["--pre=/x", "-f/etc/passwd", "-O cmd", "--output=f", "(a+)+$", "%2e%2e", "../..", "root:x:0"],
)
async def test_row_43_a_pattern_is_words(room: Room, code: Path, query: str) -> None:
    (code / "passwd").symlink_to("/etc/passwd")
    id = await indexed(room, room.operator)
    before = sorted(code.iterdir())
    found = await room.operator.get("/search/code", q=query, project=id)
    assert all(hit["path"] in {"store.py", "keys.py", "README.md"} for hit in found["items"])
    assert sorted(code.iterdir()) == before


@pytest.mark.parametrize(
    "query",
    [{"q": ""}, {}, {"q": "a" * 4_001}, {"q": "a", "limit": 0}, {"q": "a", "chars": -1},
     {"q": "a", "project": "../x"}, {"q": "a", "unknown": 1}],
)  # fmt: skip
async def test_bad_queries(room: Room, code: Path, query: dict[str, Any]) -> None:
    refused(await room.operator.ask("GET", "/search/code", **query), 422, "invalid_input")


async def test_row_44_an_endless_query_is_refused(room: Room, code: Path) -> None:
    refused(await room.operator.ask("GET", "/search/code", q="a" * 60_000), 414, "uri_too_long")


async def test_a_project_whose_folder_is_gone(room: Room, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    id = (await room.operator.post("/projects", {"path": str(folder)}))["id"]
    folder.rmdir()
    refused(await room.operator.ask("GET", "/search/code", q="a", project=id), 422, "invalid_input")


async def test_others_are_answered_while_a_project_is_indexed(
    room: Room, code: Path, app: App
) -> None:
    for number in range(300):
        (code / f"f{number}.py").write_text("def f(a):\n    return a\n" * 50)
    id = (await room.operator.post("/projects", {"path": room.project}))["id"]
    await room.operator.ask("POST", f"/projects/{id}/index", {})
    assert (await room.operator.get("/health"))["name"] == "mufakat"
    await app.knowledge.code.refresh(code)


async def test_row_34_twin_without_the_check_an_agent_reads_everything(
    room: Room, code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await room.join()
    other = tmp_path / "other"
    other.mkdir()
    (other / "secret.py").write_text("hidden_treasure = 1\n")
    id = (await room.operator.post("/projects", {"path": str(other)}))["id"]
    monkeypatch.setattr(place, "of", lambda tx, by, name: tx.projects.get(name))
    found = await agent.get("/search/code", q="treasure", project=id)
    assert found["items"][0]["path"] == "secret.py"


async def test_twin_without_scrubbing_a_secret_leaves(
    room: Room, code: Path, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await indexed(room, room.operator)
    monkeypatch.setattr(app.knowledge.search, "_scrub", Scrubbed)
    answer = await room.operator.ask("GET", "/search/code", q="ACCESS", project=id)
    assert TOKEN in answer.text
