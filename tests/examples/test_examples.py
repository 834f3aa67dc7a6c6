"""Every example in examples/ does what its first line says, against a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipment import command
from equipment.command import Mufakat
from mufakat.sdk.agent import Agent

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ASKED = "how many words are these"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mufakat]:
    found = command.fresh(tmp_path_factory.mktemp("shared"))
    started = found.run("up", "--detach")
    assert started.code == 0, started.err
    yield found
    found.kill()


@pytest.fixture
def asker(shared: Mufakat) -> Iterator[Agent]:
    with Agent.join("asker", role="reviewer", project=shared.project, place=shared.home) as agent:
        yield agent


def start(home: Mufakat, *argv: str, **more: str) -> subprocess.Popen[str]:
    environ = home.environment(MUFAKAT_HOME=str(home.home), **more)
    return subprocess.Popen(argv, cwd=home.project, env=environ, stdout=subprocess.PIPE, text=True)


def python(home: Mufakat, name: str, *words: str) -> subprocess.Popen[str]:
    return start(home, sys.executable, str(EXAMPLES / name), *words)


def ask(asker: Agent, role: str) -> str:
    """Ask whoever joins in a role, and answer what came back."""
    assert asker.wait(f"role:{role}=starting|working", seconds=30)
    asker.send(f"role:{role}", body=ASKED, intent="request")
    (answer,) = asker.inbox(wait=30)
    asker.ack(answer["number"])
    return str(answer["text"])


def ended(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return out


def leases(home: Mufakat) -> list[object]:
    return list(home.client.get("/leases")["items"])


def test_plain_loop(shared: Mufakat, asker: Agent) -> None:
    running = python(shared, "plain_loop.py", "30")
    assert ask(asker, "tester") == "I counted the words of your request: 5."
    assert "joined as plain-loop@" in ended(running)
    assert leases(shared) == []


def test_langgraph_agent(shared: Mufakat, asker: Agent) -> None:
    running = python(shared, "langgraph_agent.py", "30")
    assert ask(asker, "writer").startswith(f"Noted: {ASKED}")
    ended(running)
    assert leases(shared) == []


def test_javascript(shared: Mufakat, asker: Agent) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    more = {
        "MUFAKAT_URL": shared.client.endpoint.url,
        "MUFAKAT_JOIN": (shared.home / "join-token").read_text("ascii").strip(),
    }
    running = start(shared, node, str(EXAMPLES / "agent.mjs"), "30", **more)
    assert ask(asker, "translator") == ASKED.upper()
    assert ended(running).endswith("done\n")
    assert leases(shared) == []


def test_shell(shared: Mufakat, asker: Agent) -> None:
    folder = Path(sys.executable).parent
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    ended(start(shared, "/bin/sh", str(EXAMPLES / "agent.sh"), PATH=path))
    (told,) = asker.inbox(wait=10)
    assert told["intent"] == "request" and "build.log" in told["text"]
    assert (shared.project / "build.log").read_text() == "built\n"
    asker.ack(told["number"])
    assert leases(shared) == []


def test_fencing(shared: Mufakat) -> None:
    told = ended(python(shared, "fencing.py"))
    assert "the worker has fence" in told and "and writes: True" in told
    assert "wakes up and writes: False" in told
    assert told.rstrip().endswith("by the worker; may the sleeper go on? False")
