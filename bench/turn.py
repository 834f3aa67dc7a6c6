"""A turn through a running server beside the bare CLI: what Mufakat adds, in time and processor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import report
from bench.meter import Cost, Meter, finish, gather
from equipment import clis, process
from equipment.clis import CliSetup
from mufakat.sdk import discovery, events
from mufakat.sdk.client import Client

ROUNDS = 3
WARM = 1
"""Rounds before the measured ones."""
PROMPT = "What is this project?"
ANSWER = "It is a made project, and this answer is as long as a short one is. " * 20
SCRIPT = {"default": {"text": ANSWER}, "chunk": 40, "delay": 0.01}
FLAGS = (
    "-p",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--strict-mcp-config",
)
START_SECONDS, TURN_SECONDS = 30.0, 120.0


@dataclass(slots=True)
class Measured:
    """Costs of every round, by what was measured."""

    bare: list[Cost] = field(default_factory=list)
    turn: list[Cost] = field(default_factory=list)
    """Wall time as the client sees it; processor of the server process alone."""
    under: list[float] = field(default_factory=list)
    """Processor of the server's children in a turn: the CLI and git, milliseconds."""
    git: list[Cost] = field(default_factory=list)
    ask: list[Cost] = field(default_factory=list)
    """The command `mufakat ask` as a whole process."""
    asked: list[Cost] = field(default_factory=list)
    """Processor of the server while that command runs."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where it happens: a project, a home, the CLI and the running server."""

    project: Path
    home: Path
    setup: CliSetup
    server: int
    client: Client

    @property
    def env(self) -> Mapping[str, str]:
        return {**process.base_env(), **self.setup.env}


def main() -> str:
    """Measure in turns; answers the tables as Markdown."""
    if "claude" not in clis.available():
        raise SystemExit(f"bench: no claude in {clis.folder()}: run scripts/install-clis")
    measured = Measured()
    with tempfile.TemporaryDirectory() as folder, place(Path(folder)) as at:
        for number in range(WARM + ROUNDS):
            kept = measured if number >= WARM else Measured()
            one_round(at, kept, order=number)
    return tables(measured)


def one_round(at: Place, kept: Measured, *, order: int) -> None:
    """Everything once; every round begins with another one."""
    steps: list[Callable[[Place, Measured], None]] = [bare, turn, ask]
    first = order % len(steps)
    for step in (*steps[first:], *steps[:first]):
        step(at, kept)
    kept.git.append(gather(at.project, at.home))


def bare(at: Place, kept: Measured) -> None:
    """The CLI alone, with the flags that Mufakat gives it, and without a pack."""
    argv = [str(at.setup.command), *FLAGS, "--setting-sources", "", "--model", at.setup.model]
    kept.bare.append(finish(argv, cwd=at.project, env=at.env, stdin=PROMPT))


def turn(at: Place, kept: Measured) -> None:
    """One turn over HTTP: the request, then the event stream until it has ended."""
    meter = Meter(at.server)
    body = {"prompt": PROMPT, "project": str(at.project), "engine": "claude"}
    after = str(at.client.get("/events", {"limit": 1})["head"])
    meter.start()
    asked = at.client.post("/turns", body)
    ended = next(
        event
        for event in events.follow(
            at.client, after=after, subject=asked["id"], seconds=TURN_SECONDS
        )
        if event.kind == "turn.ended"
    )
    cost, under = meter.stop()
    assert ended.data["status"] == "done", ended.data
    kept.turn.append(cost)
    kept.under.append(under)


def ask(at: Place, kept: Measured) -> None:
    """The same turn by the command, a process from its start to its end."""
    argv = [sys.executable, "-m", "mufakat", "--home", str(at.home), "--json", "ask", PROMPT]
    meter = Meter(at.server)
    meter.start()
    cost = finish([*argv, "--engine", "claude"], cwd=at.project, env=process.base_env())
    kept.ask.append(cost)
    kept.asked.append(meter.stop()[0])


@contextmanager
def place(folder: Path) -> Iterator[Place]:
    """A project under git, a model server, and a server of Mufakat that points to both."""
    project, home = folder / "made", folder / "home"
    make_project(project)
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), "utf-8")
    words = [sys.executable, "-m", "equipment.model_server", "--script", str(script)]
    with running(words, folder) as (model, _):
        setup = clis.setup("claude", json.loads(model)["base"], folder / "cli")
        home.mkdir(mode=0o700)
        (home / "settings.toml").write_text(settings(setup), "utf-8")
        with running([sys.executable, "-m", "mufakat", "--home", str(home), "up"], folder) as up:
            found = wait_for(home)
            yield Place(project, home, setup, up[1], Client(found))


def make_project(folder: Path) -> None:
    """A small project with one commit."""
    folder.mkdir()
    (folder / "README.md").write_text("# Made\n\nA made project that only measures.\n", "utf-8")
    (folder / "pyproject.toml").write_text("[project]\nname = 'made'\n", "utf-8")
    user = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*user, "commit", "-qm", "First")):
        subprocess.run(["git", *words], cwd=folder, check=True)


def settings(setup: CliSetup) -> str:
    """What a user would write to point Claude to the model server; JSON strings are TOML's."""
    lines = [f"command = {json.dumps(str(setup.command))}", f"model = {json.dumps(setup.model)}"]
    env = [f"{name} = {json.dumps(value)}" for name, value in setup.env.items()]
    return "\n".join(["[engines.claude]", *lines, "[engines.claude.env]", *env, ""])


@contextmanager
def running(argv: list[str], folder: Path) -> Iterator[tuple[str, int]]:
    """A process until the block ends: the first line of its output, and its id."""
    child = subprocess.Popen(argv, cwd=folder, env=dict(os.environ), stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        yield child.stdout.readline().decode(), child.pid
    finally:
        child.terminate()
        child.wait(timeout=START_SECONDS)


def wait_for(home: Path) -> discovery.Endpoint:
    """The server of this home, once it answers."""
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        found = discovery.find(home)
        if found is not None:
            return found
        time.sleep(0.1)
    raise SystemExit("bench: the server did not start")


def tables(measured: Measured) -> str:
    """What each way took, and the difference that Mufakat makes."""
    ways = (
        ("bare `claude -p`", measured.bare, "the CLI"),
        ("a turn through the running server", measured.turn, "the server alone"),
        ("its git children", measured.git, "git"),
        ("`mufakat ask`, as a command", measured.ask, "the command alone"),
        ("the server under that command", measured.asked, "the server alone"),
    )
    lines = [
        [
            name,
            f"{median(one.wall for one in costs):,.0f}",
            f"{median(one.cpu for one in costs):,.0f}",
            whose,
        ]
        for name, costs, whose in ways
    ]
    engine = median(measured.under) - median(one.cpu for one in measured.git)
    lines.append(["the CLI under the server", "", f"{engine:,.0f}", "children less git"])
    columns = ("median of " + str(len(measured.turn)), "wall ms", "CPU ms", "whose CPU")
    return report.table(columns, lines)
