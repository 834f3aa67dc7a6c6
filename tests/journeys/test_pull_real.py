"""The four real CLIs pull what they need: in the run by the room's tool, and by a marker."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from equipment import clis, wire
from equipment.model_server import server
from journeys.conftest import ENGINES, engine_settings
from mufakat.sdk.client import Client, Endpoint
from mufakat.server import main
from mufakat.settings import Settings

pytestmark = [pytest.mark.clis, pytest.mark.timeout(240)]
SECRET = "PELICAN-7 before anything else"
SKILL = f"---\nname: deploy\ndescription: How this project is deployed.\n---\nCall {SECRET}.\n"
NONCE = re.compile(r"<!--mufakat:([0-9a-f]{16}):KIND:QUERY-->")


@pytest.fixture
def client(tmp_path: Path, model: server.ModelServer) -> Iterator[Client]:
    if reason := clis.skip_reason():
        pytest.skip(reason)
    engines = {name: engine_settings(name, model.base, tmp_path / "homes") for name in ENGINES}
    with main.in_thread(Settings(home=tmp_path / "home", engines=engines)) as ready:
        yield Client(Endpoint(ready.url, ready.token))


@pytest.fixture
def skilled(client: Client, project: Path) -> Path:
    """A project with a skill that a person has agreed to."""
    folder = project / ".agents" / "skills" / "deploy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    here = client.post("/projects", {"path": str(project)})["id"]
    found = client.get("/skills/deploy", {"project": here})
    client.post("/skills/deploy/consent", {"project": here, "digest": found["digest"]})
    return project


def ask(client: Client, cli: str, project: Path) -> dict[str, Any]:
    wanted = {"prompt": "Deploy it.", "project": str(project), "engine": cli, "role": "developer"}
    turn = client.post("/turns", wanted)
    limit = time.monotonic() + 150
    while time.monotonic() < limit:
        turn = client.get(f"/turns/{turn['id']}", {"wait": 50})
        if turn["status"] not in {"queued", "running"}:
            break
    assert turn["status"] == "done", turn
    return turn


@pytest.mark.parametrize("cli", ENGINES)
def test_an_agent_pulls_a_skill_by_the_tool_inside_its_run(
    cli: str, client: Client, model: server.ModelServer, skilled: Path
) -> None:
    pull = {"name": "$mcp:context_pull", "args": {"kind": "skill", "query": "deploy"}}
    model.set_script({"turns": [{"tools": [pull]}], "default": {"text": "Deployed."}})
    turn = ask(client, cli, skilled)
    heard = [wire.all_text(body) for body in model.bodies()]
    assert len(heard) == 2, "one run, no restart"
    assert SECRET not in heard[0]
    assert "deploy" in heard[0], "the index names it"
    assert SECRET in heard[1], "the tool's result reached the model"
    events = client.get("/events", {"subject": turn["id"], "kinds": "turn.pulled"})["events"]
    assert [one["data"]["way"] for one in events] == ["tool"]
    assert "Deployed." in turn["text"]


@pytest.mark.parametrize("cli", ENGINES)
def test_an_agent_pulls_a_skill_by_a_marker_in_its_answer(
    cli: str, client: Client, model: server.ModelServer, skilled: Path
) -> None:
    marker = "I need it.\n<!--mufakat:{{NONCE}}:skill:deploy-->"
    model.set_script({"turns": [{"text": marker}], "default": {"text": "Deployed."}})
    turn = ask(client, cli, skilled)
    heard = [wire.all_text(body) for body in model.bodies()]
    assert SECRET not in heard[0]
    assert SECRET in heard[-1]
    assert turn["text"] == "I need it.\n\nDeployed."
