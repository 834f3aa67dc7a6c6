"""No path of hook and server holds a turn more than three times, and none when nobody answers."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from equipment import live_server, slow_proxy
from equipment.live_server import Caller, LiveServer
from mufakat.sdk import hook_command

pytestmark = pytest.mark.timeout(300)
ENGINES = ("claude", "codex", "gemini", "opencode")
COUNTS = (0, 1, 3, 50)
KINDS = {
    "inform": {"intent": "inform"},
    "requires_ack": {"intent": "request"},
    "urgent": {"intent": "inform", "priority": 3},
}
FEW = [(3, "requires_ack", True), (50, "inform", False), (1, "urgent", True)]
ALL = list(itertools.product(COUNTS, KINDS, (False, True)))
MOST = 3
STOPS = 8
"""After so many it would be taken for held for ever."""


@dataclass
class Session:
    """One session of an engine, as its hooks see it."""

    home: Path
    engine: str
    name: str
    cwd: Path
    prompts: Iterator[int] = field(default_factory=itertools.count)

    def fire(self, moment: str, **more: Any) -> dict[str, Any]:
        """Start the hook as the engine does; it must end well whatever happens."""
        call = {"session_id": self.name, "cwd": str(self.cwd), **more}
        done = subprocess.run(
            [*hook_command.words(), self.engine, moment, str(self.home)],
            input=json.dumps(call).encode(),
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout.strip() else {}
        return answer

    def begin(self) -> None:
        self.fire("session-start")
        self.fire("prompt", **self.turn())

    def turn(self) -> dict[str, Any]:
        """How the engine names its turn."""
        named = {"claude": "prompt_id", "codex": "turn_id", "opencode": "turn_id"}
        name = named.get(self.engine)
        return {"prompt": "go on"} | ({name: "turn-1"} if name else {})

    def stop(self, again: bool) -> bool:
        """Whether the turn is held; Gemini begins the held turn with a prompt of ours."""
        answer = self.fire("stop", stop_hook_active=again, **self.turn())
        reason = answer.get("block") or answer.get("reason")
        held = "block" in answer or answer.get("decision") == "block"
        if held and self.engine == "gemini":
            self.fire("prompt", prompt=reason)
        return held


@dataclass
class Post:
    """Who writes to a session."""

    operator: Caller
    to: str
    kind: str
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def send(self, count: int) -> None:
        for _ in range(count):
            number = next(self.numbers)
            body = {"to": [self.to], "body": f"message {number}", **KINDS[self.kind]}
            status, said = self.operator.ask("POST", "/messages", body, key=f"{self.to}-{number}")
            assert status == 201, said


def identity(operator: Caller, engine: str) -> str:
    """The newest instance of an engine."""
    _, found = operator.ask("GET", "/agents")
    there = [one for one in found["items"] if one["engine"] == engine]
    return str(max(there, key=lambda one: (one["created"], one["revision"]))["identity"])


def held(server: LiveServer, session: Session, case: tuple[int, str, bool]) -> int:
    """The check itself: how often one turn is held until it ends, at most `STOPS` times."""
    count, kind, fresh = case
    operator = server.operator()
    try:
        session.begin()
        post = Post(operator, identity(operator, session.engine), kind)
        post.send(count)
        for stop in range(STOPS):
            if not session.stop(stop > 0):
                return stop
            post.send(int(fresh))
    finally:
        operator.hang_up()
    return STOPS


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("cases", [FEW, pytest.param(ALL, marks=pytest.mark.slow)])
def test_q11_every_turn_ends_after_three_holds_at_most(tmp_path: Path, cases: Any) -> None:
    counts = {}
    with live_server.serving(tmp_path / "home") as server:
        for engine, case in itertools.product(ENGINES, cases):
            session = Session(server.home, engine, f"{engine} {case}", tmp_path)
            counts[engine, *case] = held(server, session, case)
    assert max(counts.values()) <= MOST, counts
    assert not any(times for (_, count, _, _), times in counts.items() if not count)
    # It is no use to end because nothing was ever held.
    for engine in ENGINES:
        assert sum(times for (name, *_), times in counts.items() if name == engine) > 0, counts


def test_q11_a_slow_server_and_one_that_is_down_hold_nobody(tmp_path: Path) -> None:
    with live_server.serving(tmp_path / "home") as server:
        sessions = [Session(server.home, engine, "s-1", tmp_path) for engine in ENGINES]
        operator = server.operator()
        for session in sessions:
            session.begin()
            post = Post(operator, identity(operator, session.engine), "requires_ack")
            post.send(3)
        operator.hang_up()
        with slow_proxy.before(server.home, 5.0):
            assert [session.stop(False) for session in sessions] == [False] * len(sessions)
        server.kill()
        assert [session.stop(True) for session in sessions] == [False] * len(sessions)
        server.start()
        # What came late was counted, and nothing of it is asked for ever.
        for session in sessions:
            assert sum(session.stop(True) for _ in range(MOST + 2)) <= MOST


def test_q11_twin_without_the_cap_a_turn_never_ends(tmp_path: Path) -> None:
    with live_server.serving(tmp_path / "home", "no_cap") as server:
        session = Session(server.home, "codex", "s-1", tmp_path)
        assert held(server, session, (1, "requires_ack", True)) > MOST
