"""Requests made up from the API document: no answer breaks it, and none is a fault."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from mufakat.sdk import home as homes
from mufakat.server import main
from mufakat.server.http import document
from mufakat.settings import Settings

CONFIGURATION = """
[parameters]
"query.follow" = "0"
"query.presence" = "0"
"query.wait" = 0

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "413", "414", "422", "429", "431"]

[checks.negative_data_rejection]
expected-statuses = [
    "400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429", "431"
]
"""
"""A stream has no end to wait for; a well-formed request may still name what is not there; and
any request may be too large."""


def narrowed(project: Path) -> dict[str, Any]:
    """The API document with values that exist here, so that requests get beyond validation."""
    made = document.build()
    schemas = made["components"]["schemas"]
    known = {
        "project": [str(project)],
        "engine": ["", "scripted"],
        "role": ["general", "developer"],
        "persona": [""],
        "mode": ["", "lite", "standard", "full"],
        "conversation": [""],
    }
    for name in ("NewTurn", "NewConversation"):
        fields = schemas[name]["properties"]
        for field in known.keys() & fields.keys():
            fields[field]["enum"] = known[field]
    turn = schemas["NewTurn"]["properties"]
    turn["mute"]["maxItems"] = 0
    schemas["NewProject"]["properties"]["path"]["enum"] = [str(project)]
    narrow_agents(schemas, project)
    return made


def narrow_agents(schemas: dict[str, Any], project: Path) -> None:
    """Agents that can join, resources that there are, and requests that do not wait."""
    joining = schemas["NewAgent"]["properties"]
    joining["threads"]["maxItems"] = 0
    for name in ("NewAgent", "Sending"):
        schemas[name]["properties"]["project"]["enum"] = ["", str(project)]
    for name in ("NewLease", "Steal"):
        schemas[name]["properties"]["resources"]["items"]["enum"] = ["task:one", "task:two"]
    for name in ("NewLease", "Claim"):
        del schemas[name]["properties"]["wait"]
    waiting = schemas["WaitFor"]
    waiting["properties"]["seconds"]["maximum"] = 0
    # Where it is left out, whoever fits the condition's prefix is waited for.
    waiting["required"] = [*waiting["required"], "seconds"]


def run(
    settings: Settings, project: Path, folder: Path, *, examples: int, agent: bool = False
) -> str:
    """Run schemathesis with every check against a real server; answers its report."""
    (folder / "schemathesis.toml").write_text(CONFIGURATION)
    (folder / "openapi.json").write_text(json.dumps(narrowed(project)))
    # Who has joined is told what it is, whatever it asks for.
    left_out = ("--exclude-path", "/api/v1/agents") if agent else ()
    with main.in_thread(settings) as server:
        token = joined(server, settings, project) if agent else server.token
        argv = [
            str(Path(sys.executable).parent / "schemathesis"),
            *("run", "openapi.json", "--url", server.url, "--no-color"),
            *("--checks", "all", "--continue-on-failure", "--max-examples", str(examples)),
            *("--header", f"Authorization: Bearer {token}"),
            *("--generation-database", "none", "--request-timeout", "30", *left_out),
        ]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    report = done.stdout + done.stderr
    assert done.returncode == 0, report
    return report


def joined(server: main.Ready, settings: Settings, project: Path) -> str:
    """The token of an agent of the project."""
    join = (settings.home / homes.JOIN_TOKEN).read_text("ascii").strip()
    headers = {"authorization": f"Bearer {join}"}
    body = {"engine": "codex", "project": str(project)}
    with httpx.Client(base_url=server.url, headers=headers) as http:
        return str(http.post("/api/v1/agents", json=body).json()["token"])


def faults(settings: Settings) -> list[str]:
    """Faults that the server logged."""
    lines = (settings.home / homes.SERVER_LOG).read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return [record["message"] for record in records if record["level"] == "error"]


def test_q8_made_up_requests(settings: Settings, project: Path, tmp_path: Path) -> None:
    report = run(settings, project, tmp_path, examples=3)
    assert "Seed:" in report
    assert faults(settings) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_q8_made_up_requests_of_an_agent(settings: Settings, project: Path, tmp_path: Path) -> None:
    print(run(settings, project, tmp_path, examples=5, agent=True)[-2000:])
    assert faults(settings) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_q8_many_made_up_requests(settings: Settings, project: Path, tmp_path: Path) -> None:
    report = run(settings, project, tmp_path, examples=200)
    print(report[-2000:])
    assert faults(settings) == []
