"""`context_pull` with a kind: an agent gets more inside its run, within its own project."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from equipment.command import Mufakat
from equipment.mcp_session import call, over_http, refused
from mufakat.sdk.agent import Agent

pytestmark = pytest.mark.anyio
Pair = tuple[Agent, Agent]


def token(agent: Agent) -> str:
    return str(agent.record["token"])


def write(home: Mufakat, name: str, text: str) -> None:
    path = Path(home.project) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_without_arguments_it_tells_what_is_new(shared: Mufakat, agents: Pair) -> None:
    async with over_http(shared, token(agents[0])) as session:
        assert await call(session, "context_pull") == "Nothing is new."


async def test_a_skill_is_pulled_after_consent(shared: Mufakat, agents: Pair) -> None:
    body = "---\nname: deploy\ndescription: How to deploy.\n---\nUse PELICAN-7 first.\n"
    write(shared, ".agents/skills/deploy/SKILL.md", body)
    async with over_http(shared, token(agents[0])) as session:
        refused_text = await call(session, "context_pull", kind="skill", query="deploy")
        assert "PELICAN-7" not in refused_text and "nothing" in refused_text
        assert shared.run("skills", "consent", "deploy").code == 0
        told = await call(session, "context_pull", kind="skill", query="deploy")
        assert "PELICAN-7" in told
        unknown = await call(session, "context_pull", kind="skill", query="deplyo")
        assert "nothing" in unknown and "deploy" in unknown


async def test_lines_of_a_file_are_pulled_and_nothing_outside(
    shared: Mufakat, agents: Pair
) -> None:
    write(shared, "src/app.py", "one = 1\ntwo = 2\nthree = 3\n")
    async with over_http(shared, token(agents[0])) as session:
        told = await call(session, "context_pull", kind="slice", query="src/app.py:2-2")
        assert "two = 2" in told and "three" not in told
        for outside in ("/etc/passwd", "../../../../etc/passwd", "src/../../x"):
            told = await call(session, "context_pull", kind="slice", query=outside)
            assert "root:" not in told and "nothing" in told


async def test_arguments_are_checked(shared: Mufakat, agents: Pair) -> None:
    async with over_http(shared, token(agents[0])) as session:
        assert "kind" in json.dumps(await refused(session, "context_pull", kind="weather"))


async def test_the_same_over_http_and_the_command_line(shared: Mufakat, agents: Pair) -> None:
    write(shared, "src/lib.py", "def bite():\n    return 'TEAL-7'\n")
    found = shared.client.post(
        "/pull", {"kind": "slice", "query": "src/lib.py:1-2", "project": str(shared.project)}
    )
    assert "TEAL-7" in found["text"] and found["ids"] == ["src/lib.py:1-2"]
    printed = shared.run("pull", "slice", "src/lib.py", "--no-json")
    assert printed.code == 0 and "TEAL-7" in printed.out
    nothing = shared.run("pull", "plan", "x", "--no-json")
    assert nothing.code == 1 and "not part of this version" in nothing.err


async def test_row_34_another_project_is_refused(shared: Mufakat, agents: Pair) -> None:
    theirs = Path(shared.home).parent / "theirs"
    theirs.mkdir(exist_ok=True)
    shared.client.post("/projects", {"path": str(theirs)})
    code, problem = _refused(shared, token(agents[0]), str(theirs))
    assert code in {403, 404} and "theirs" not in problem.get("text", "")


def _refused(home: Mufakat, bearer: str, project: str) -> tuple[int, dict[str, str]]:
    answer = httpx.post(
        f"{home.client.endpoint.url}/api/v1/pull",
        json={"kind": "recall", "query": "anything", "project": project},
        headers={"Authorization": f"Bearer {bearer}"},
        timeout=30,
    )
    return answer.status_code, answer.json()
