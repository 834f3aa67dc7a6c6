"""Two real CLIs that a person starts in one repository, and a third agent from another machine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipment import clis, wire
from equipment.command import Mufakat
from equipment.model_server import server
from journeys.test_hooks_installed import argv, settle
from mufakat.sdk.agent import Agent
from mufakat.sdk.client import Client, Endpoint
from mufakat.server import main
from mufakat.settings import Settings

pytestmark = [pytest.mark.clis, pytest.mark.timeout(240)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    if reason := clis.skip_reason():
        pytest.skip(reason)
    return Settings(home=tmp_path / "home")


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with main.in_thread(settings) as ready:
        yield Client(Endpoint(ready.url, ready.token))


def start(person: Mufakat, setup: clis.CliSetup, prompt: str) -> subprocess.Popen[str]:
    """One turn of a CLI in a terminal of its own."""
    process = subprocess.Popen(
        argv(setup),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=person.project,
        env=person.environment(**setup.env),
        text=True,
    )
    assert process.stdin
    process.stdin.write(prompt)
    process.stdin.close()
    process.stdin = None
    return process


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    return out


def test_neither_overwrites_the_other_and_each_knows_what_was_said(
    settings: Settings, client: Client, project: Path, tmp_path: Path
) -> None:
    (project / ".git").mkdir(exist_ok=True)
    shared, done = project / "shared.txt", tmp_path / "done"
    shared.write_text("by hand\n")
    person = Mufakat(settings.home, project)
    with server.ModelServer() as first, server.ModelServer() as second:
        one = clis.setup("claude", first.base, tmp_path / "one")
        two = clis.setup("gemini", second.base, tmp_path / "two")
        settle(two, tmp_path / "two")
        for cli, setup in (("claude", one), ("gemini", two)):
            assert person.run("hooks", "install", cli, "--json", **setup.env).code == 0
        first.set_script({"default": {"text": "The port is 8080, says PELICAN."}})
        ended(start(person, one, "Choose a port."))
        mufakat = f"{sys.executable} -m mufakat --home {settings.home}"
        hold = tmp_path / "hold.sh"
        hold.write_text(
            f"{mufakat} lease acquire file:shared.txt --ttl 10m --json || exit 1\n"
            f"while [ ! -e {done} ]; do sleep 0.2; done\n"
        )
        first.set_script(
            {
                "turns": [{"tools": [{"name": "$shell", "args": {"command": f"sh {hold}"}}]}],
                "default": {"text": "Ported."},
            }
        )
        holding = start(person, one, "Port the shared file.")
        try:
            holder = held(client)
            write = {"file_path": str(shared), "content": "overwritten\n"}
            second.set_script(
                {
                    "turns": [{"tools": [{"name": "write_file", "args": write}]}],
                    "default": {"text": "I leave it alone."},
                }
            )
            ended(start(person, two, "Overwrite the shared file."))
        finally:
            done.touch()
        ended(holding)
        told = [wire.all_text(body) for body in second.bodies()]
        assert "PELICAN" in told[0], "it knows what the other last said"
        assert holder in told[1], "and who holds the file it wanted"
        assert shared.read_text() == "by hand\n"
        assert client.get("/leases")["items"] == []
        first.set_script({"default": {"text": "Good."}})
        ended(start(person, one, "What do the others say?"))
        assert "I leave it alone." in wire.all_text(first.bodies()[-1])


def held(client: Client) -> str:
    """Who holds the shared file, as soon as somebody does."""
    for _ in range(600):
        found = client.get("/leases")["items"]
        if found:
            return str(found[0]["holder"])
        time.sleep(0.1)
    raise AssertionError("nobody took the lease")


def test_a_third_joins_over_http_with_a_token_and_no_home_of_ours(
    settings: Settings, client: Client, project: Path, tmp_path: Path
) -> None:
    token = (settings.home / "join-token").read_text("ascii").strip()
    elsewhere = {
        "url": client.endpoint.url,
        "token": token,
        "place": tmp_path / "another-home",
        "project": project,
    }
    with Agent.join("ci-job", role="tester", **elsewhere) as far:  # type: ignore[arg-type]
        near = Agent.join("here", role="developer", place=settings.home, project=project)
        near.send(far.identity, body="Run the tests.", intent="request")
        (letter,) = far.inbox(wait=10)
        far.send(letter["sender"], body="All pass.", reply_to=letter["message"])
        assert [one["text"] for one in near.inbox(wait=10)] == ["All pass."]
        near.leave()
    assert not (tmp_path / "another-home").exists()
