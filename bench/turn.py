"""A turn through a running server beside the bare CLI: what Mufakat adds, in time and processor."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench import place, report
from bench.meter import Cost, Meter, finish, gather
from bench.place import Place
from equipment import clis, process
from mufakat.sdk import events

ROUNDS = 15
WARM = 2
"""Rounds before the measured ones."""
PROMPT = "What is this project?"
FLAGS = (
    "-p",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--strict-mcp-config",
)
TURN_SECONDS = 120.0


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


def main() -> str:
    """Measure in turns; answers the tables as Markdown."""
    if sys.platform != "linux":
        raise SystemExit("bench: only Linux shows the processor time of a server from outside")
    if "claude" not in clis.available():
        raise SystemExit(f"bench: no claude in {clis.folder()}: run scripts/install-clis")
    measured = Measured()
    with tempfile.TemporaryDirectory() as folder, place.opened(Path(folder)) as at:
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
