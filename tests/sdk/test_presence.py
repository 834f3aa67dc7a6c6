"""An agent that holds its presence: over a restart of the server, and gone with its process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from equipment.live_server import LiveServer, serving
from mufakat.sdk.agent import Agent
from mufakat.sdk.async_agent import AsyncAgent

PATIENCE = 60.0
HOLDS = """
import sys, time
from pathlib import Path
from mufakat.sdk.agent import Agent
agent = Agent.join("loop", project=sys.argv[1], place=Path(sys.argv[2]))
with agent.presence() as held:
    print(agent.identity, held.held, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveServer]:
    with serving(tmp_path / "home") as server:
        yield server


def join(live: LiveServer, project: Path) -> Agent:
    return Agent.join("loop", project=project, place=live.home)


def eventually(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def connections(live: LiveServer) -> list[str]:
    """What the log tells of connections, oldest first."""
    caller = live.operator()
    _, found = caller.ask("GET", "/events", kinds="agent.connected,agent.disconnected")
    caller.hang_up()
    return [event["kind"] for event in found["events"]]


def test_it_holds_one_connection_and_lets_it_go(live: LiveServer, tmp_path: Path) -> None:
    with join(live, tmp_path) as agent:
        with agent.presence() as held:
            assert held.held
            assert connections(live) == ["agent.connected"]
        eventually(lambda: connections(live) == ["agent.connected", "agent.disconnected"])
        assert held.lost is None and not held.held


def test_c2_it_comes_back_to_the_restarted_server_by_itself(
    live: LiveServer, tmp_path: Path
) -> None:
    with join(live, tmp_path) as agent, agent.presence() as held:
        live.kill()
        eventually(lambda: not held.held)
        live.start()
        eventually(lambda: held.held)
        # The server that was killed could not tell of the end; the next one did, and missed it.
        assert connections(live) == ["agent.connected", "agent.disconnected", "agent.connected"]


def test_a_session_that_was_superseded_gives_up(live: LiveServer, tmp_path: Path) -> None:
    first = Agent.join("loop", session="s-1", project=tmp_path, place=live.home)
    with first.presence() as held:
        second = Agent.join("loop", session="s-1", project=tmp_path, place=live.home)
        live.stop()
        live.start()
        eventually(lambda: held.lost is not None)
        assert held.lost is not None and held.lost.code == "superseded"
    second.leave()


def test_c2_a_killed_process_cuts_its_connection(live: LiveServer, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path), str(live.home)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().split()[1] == "True"
        assert connections(live) == ["agent.connected"]
    finally:
        process.kill()
        process.communicate()
    eventually(lambda: connections(live)[-1] == "agent.disconnected")


@pytest.mark.anyio
async def test_the_async_agent_holds_it_too(live: LiveServer, tmp_path: Path) -> None:
    agent = await AsyncAgent.join("loop", project=tmp_path, place=live.home)
    async with agent, agent.presence() as held:
        assert held.held
    assert connections(live)[0] == "agent.connected"


def test_reports_go_on_counting_after_the_gate_has_reported_by_itself(
    live: LiveServer, tmp_path: Path
) -> None:
    with join(live, tmp_path) as agent:
        for _ in range(3):
            agent.working()
            assert agent.may_stop("t") == ""
        agent.idle()
