"""The graph over HTTP: relations, blast radius, rights and refusals."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest

from doors.http.room import Room

pytestmark = pytest.mark.anyio


@pytest.fixture
def code(project: Path) -> Path:
    (project / "lamp.py").write_text("def light(level):\n    return level\n")
    (project / "house.py").write_text("import lamp\n\n\ndef on():\n    return lamp.light(1)\n")
    (project / "test_lamp.py").write_text("from lamp import light\n\nassert light(1)\n")
    return project


async def test_relations_and_blast(room: Room, code: Path) -> None:
    agent = await room.join("codex")
    callers = await agent.get("/graph/callers", symbol="light")
    assert {"path": "house.py", "line": 5, "symbol": "on", "text": "return lamp.light(1)"} in (
        callers["items"]
    )
    for relation in ("definition", "callees", "importers", "tests"):
        await agent.get(f"/graph/{relation}", symbol="light")
    reached = await agent.get("/graph/blast?path=lamp.py")
    assert [one["path"] for one in reached["items"]][0] == "test_lamp.py"


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/graph/callers", {}, 422),
        ("/graph/callers", {"symbol": "x" * 501}, 422),
        ("/graph/callers", {"symbol": "x" * 60_000}, 414),
        ("/graph/friends", {"symbol": "x"}, 422),
        ("/graph/blast", {}, 422),
        ("/graph/blast", {"path": ["../../etc/passwd"]}, 422),
        ("/graph/blast", {"path": ["none.py"]}, 404),
        ("/graph/blast", {"path": ["lamp.py"] * 51}, 422),
    ],
)
async def test_what_is_refused(
    room: Room, code: Path, path: str, query: dict[str, object], status: int
) -> None:
    agent = await room.join("codex")
    answer = await agent.ask("GET", f"{path}?{urlencode(query, doseq=True)}")
    assert answer.status_code == status, answer.text


async def test_row_34_another_project_is_not_for_an_agent(
    room: Room, code: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "hidden.py").write_text("def hidden():\n    pass\n")
    made = await room.operator.post("/projects", {"path": str(other)})
    agent = await room.join("codex")
    for path in ("/graph/definition?symbol=hidden", "/graph/blast?path=hidden.py"):
        answer = await agent.ask("GET", f"{path}&project={made['id']}")
        assert answer.status_code in {403, 404}
    own = await room.operator.get("/graph/definition", symbol="hidden", project=made["id"])
    assert [one["path"] for one in own["items"]] == ["hidden.py"]
