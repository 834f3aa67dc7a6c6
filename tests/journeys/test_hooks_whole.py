"""The whole way: a real server, a real CLI under it, its hooks, and the agent's own commands."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from equipment import clis, wire
from equipment.command import Mufakat
from equipment.model_server import server
from journeys.conftest import ENGINES, engine_settings
from mufakat.sdk.client import Client, Endpoint
from mufakat.server import main
from mufakat.settings import Settings

pytestmark = [pytest.mark.clis, pytest.mark.timeout(240)]
ACK = f"{sys.executable} -m mufakat inbox ack 1 --json"


@pytest.fixture
def settings(tmp_path: Path, model: server.ModelServer) -> Settings:
    if reason := clis.skip_reason():
        pytest.skip(reason)
    engines = {name: engine_settings(name, model.base, tmp_path / "homes") for name in ENGINES}
    return Settings(home=tmp_path / "home", engines=engines)


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with main.in_thread(settings) as ready:
        yield Client(Endpoint(ready.url, ready.token))


def ended(client: Client, turn: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    limit = time.monotonic() + 150
    while time.monotonic() < limit:
        found = client.get(f"/turns/{turn}", {"wait": 50})
        if found["status"] not in {"queued", "running"}:
            break
    assert found["status"] == "done", found
    return found


@pytest.mark.parametrize("cli", ENGINES)
def test_an_agent_reads_a_request_acknowledges_it_and_ends(
    cli: str, client: Client, model: server.ModelServer, project: Path
) -> None:
    shell = {"name": "$shell", "args": {"command": "sleep 2; echo slept"}}
    ack = {"name": "$shell", "args": {"command": ACK}}
    model.set_script(
        {
            "turns": [{"tools": [shell]}, {"text": "Done."}, {"tools": [ack]}],
            "default": {"text": "All is answered."},
        }
    )
    turn = client.post(
        "/turns",
        {"prompt": "Work.", "project": str(project), "engine": cli, "role": "developer"},
    )
    model.wait_for(1, 60)
    who = turn["agent"]
    client.post("/messages", {"to": [who], "intent": "request", "body": "Which port, PELICAN?"})
    done = ended(client, turn["id"])
    assert "All is answered." in done["text"]
    bodies = [wire.all_text(body) for body in model.bodies()]
    assert "PELICAN" in bodies[1], "told in the middle of the turn"
    assert "inbox" in bodies[2], "held, and asked to answer"
    (letter,) = client.get(f"/agents/{who}/inbox", {"open": 0})["items"]
    agent = client.get(f"/agents/{who}")
    # Codex's sandbox has no network: its shell reaches nobody, and so it is let go at last.
    expected = "shown" if cli == "codex" else "acked"
    assert (letter["status"], agent["state"]) == (expected, "idle")
    assert agent["debt"] == (1 if cli == "codex" else 0)
    assert len(bodies) <= 1 + 1 + 1 + 3


@pytest.mark.parametrize("cli", ENGINES)
def test_an_agent_reads_and_acknowledges_by_the_rooms_own_tools(
    cli: str, client: Client, model: server.ModelServer, project: Path
) -> None:
    """Every run has the room's MCP server; no sandbox stands in its way."""
    first = {"name": "$shell", "args": {"command": "sleep 2; echo slept"}}
    read = {"name": "$mcp:inbox", "args": {}}
    ack = {"name": "$mcp:ack", "args": {"numbers": [1]}}
    turns = [{"tools": [one]} for one in (first, read, ack)]
    model.set_script({"turns": turns, "default": {"text": "All is answered."}})
    turn = client.post(
        "/turns",
        {"prompt": "Work.", "project": str(project), "engine": cli, "role": "developer"},
    )
    model.wait_for(1, 60)
    who = turn["agent"]
    client.post("/messages", {"to": [who], "intent": "request", "body": "Which port, PELICAN?"})
    assert "All is answered." in ended(client, turn["id"])["text"]
    (letter,) = client.get(f"/agents/{who}/inbox", {"open": 0})["items"]
    assert letter["status"] == "acked"
    assert client.get(f"/agents/{who}")["debt"] == 0
    assert len(model.bodies()) == 4, "never held: it was done before it stopped"


def test_a_session_that_a_person_starts_joins_by_itself(
    client: Client, model: server.ModelServer, settings: Settings, project: Path, tmp_path: Path
) -> None:
    """Installed hooks, no token anywhere: the agent's own commands still speak as the agent."""
    person = Mufakat(settings.home, project)
    setup = clis.setup("claude", model.base, tmp_path / "person")
    assert person.run("hooks", "install", "claude", "--json", **setup.env).code == 0
    who = [sys.executable, "-m", "mufakat", "--home", str(settings.home), "inbox", "--json"]
    shell = {"name": "$shell", "args": {"command": "sleep 2; echo slept"}}
    look = {"name": "$shell", "args": {"command": " ".join(who)}}
    ack = {"name": "$shell", "args": {"command": " ".join([*who[:-1], "ack", "1", "--json"])}}
    model.set_script(
        {
            "turns": [{"tools": [shell]}, {"tools": [look]}, {"tools": [ack]}],
            "default": {"text": "All is answered."},
        }
    )
    argv = [str(setup.command), "-p", "--model", setup.model, "--allowedTools", "Bash"]
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=project,
        env=person.environment(**setup.env),
        text=True,
    )
    assert process.stdin
    process.stdin.write("Work.")
    process.stdin.close()
    process.stdin = None
    model.wait_for(1, 60)
    (agent,) = [one for one in client.get("/agents")["items"] if one["engine"] == "claude"]
    assert agent["state"] == "working"
    assert agent["repository"] == str(project)
    client.post("/messages", {"to": [agent["identity"]], "intent": "request", "body": "PELICAN?"})
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "All is answered." in out
    assert "PELICAN" in wire.all_text(model.bodies()[2]), "its own inbox, by its own command"
    (letter,) = client.get(f"/agents/{agent['identity']}/inbox", {"open": 0})["items"]
    assert letter["status"] == "acked"
    gone = client.get(f"/agents/{agent['identity']}")
    assert (gone["state"], gone["on"]) == ("offline", "exited")
    assert person.run("hooks", "remove", "claude", "--json", **setup.env).code == 0
    assert not (tmp_path / "person" / ".claude" / "settings.json").exists()
