"""Push, marker pull and in-run pull: what each tells an agent, and how long its turns take.

Ten requests to a real CLI with a scripted model; three of them need one of ten skills.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import place, report
from equipment import clis, wire
from equipment.model_server import server
from mufakat.sdk.client import Client

WAYS = ("push", "marker", "in-run")
REQUESTS, SKILLS = 10, 10
NEEDED = frozenset({1, 4, 7})
"""Requests that cannot be answered without the skill of their number."""
SKILL_CHARS = 2_000
TURN_SECONDS = 120.0


@dataclass(slots=True)
class Way:
    """What ten requests came to; sizes in characters."""

    told: int = 0
    """Packs, prompts and pulled answers: all that Mufakat hands over."""
    read: int = 0
    """Of all requests to the model, the CLI's own texts included."""
    wall: float = 0.0
    runs: int = 0
    """Processes of the CLI."""
    asked: int = 0
    """Requests to the model."""
    present: int = 0
    """Needed skills that the model was told whole."""


def main() -> str:
    """Measure all ways; answers the table as Markdown."""
    if "claude" not in clis.available():
        raise SystemExit(f"bench: no claude in {clis.folder()}: run scripts/install-clis")
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder)) as at:
        ways = {name: at.measure(name) for name in WAYS}
    return _table(ways)


@dataclass(frozen=True, slots=True)
class _Place:
    client: Client
    model: server.ModelServer
    project: Path

    def measure(self, way: str) -> Way:
        found = Way()
        for number in range(REQUESTS):
            before = len(self.model.bodies())
            began = time.perf_counter()
            turn = self._turn(prompt(way, number))
            found.wall += time.perf_counter() - began
            heard = [wire.all_text(body) for body in self.model.bodies()[before:]]
            self._count(found, turn, heard)
            if number in NEEDED:
                found.present += any(body(number) in text for text in heard)
        return found

    def _turn(self, prompt: str) -> str:
        wanted = {"prompt": prompt, "project": str(self.project), "engine": "claude"}
        turn = self.client.post("/turns", wanted)
        limit = time.monotonic() + TURN_SECONDS
        while turn["status"] in {"queued", "running"} and time.monotonic() < limit:
            turn = self.client.get(f"/turns/{turn['id']}", {"wait": 50})
        assert turn["status"] == "done", turn
        return str(turn["id"])

    def _count(self, found: Way, turn: str, heard: list[str]) -> None:
        for event in self.client.get("/events", {"subject": turn, "limit": 500})["events"]:
            data = event["data"]
            match event["kind"]:
                case "turn.packed":
                    found.told += data["used"]
                case "turn.pulled":
                    found.told += sum(want["chars"] for want in data["wants"])
                case "turn.session":
                    found.runs += 1
        found.read += sum(map(len, heard))
        found.asked += len(heard)


def body(number: int) -> str:
    """What a skill says: as long as real ones are, and each its own."""
    line = f"Step {{}} of skill-{number}: call PELICAN-{number} and wait until it has answered."
    lines = [line.format(step) for step in range(1, 40)]
    return "\n".join(lines)[:SKILL_CHARS].rsplit("\n", 1)[0]


def prompt(way: str, number: int) -> str:
    """The request; to push is to send every skill with it: nobody knows which will be used."""
    asked = f"Do task {way}-{number}."
    if way != "push":
        return asked
    return "\n\n".join([*(f"# skill-{n}\n{body(n)}" for n in range(SKILLS)), asked])


def script() -> dict[str, Any]:
    """A model that pulls where it must, by the way that the request names."""
    lanes = []
    for number in sorted(NEEDED):
        query = {"kind": "skill", "query": f"skill-{number}"}
        first = {
            "marker": {"text": f"<!--mufakat:{{{{NONCE}}}}:skill:skill-{number}-->"},
            "in-run": {"tools": [{"name": "$mcp:context_pull", "args": query}]},
        }
        lanes += [
            {"match": rf"Do task {way}-{number}\.", "turns": [turn]} for way, turn in first.items()
        ]
    return {"lanes": lanes, "default": {"text": "It is done."}}


@contextmanager
def _opened(folder: Path) -> Iterator[_Place]:
    project, home = folder / "made", folder / "home"
    place.make_project(project)
    with server.ModelServer(script()) as model:
        setup = clis.setup("claude", model.base, folder / "cli")
        home.mkdir(mode=0o700)
        (home / "settings.toml").write_text(place.settings(setup), "utf-8")
        words = [sys.executable, "-m", "mufakat", "--home", str(home), "up"]
        with place.running(words, folder):
            client = Client(place.wait_for(home))
            _agree(client, project)
            yield _Place(client, model, project)


def _agree(client: Client, project: Path) -> None:
    """Write the skills, and consent to each."""
    here = client.post("/projects", {"path": str(project)})["id"]
    for number in range(SKILLS):
        name = f"skill-{number}"
        folder = project / ".agents" / "skills" / name
        folder.mkdir(parents=True)
        head = f"---\nname: {name}\ndescription: How task {number} is done.\n---\n"
        (folder / "SKILL.md").write_text(head + body(number), "utf-8")
        digest = client.get(f"/skills/{name}", {"project": here})["digest"]
        client.post(f"/skills/{name}/consent", {"project": here, "digest": digest})


def _table(ways: dict[str, Way]) -> str:
    columns = (
        f"{REQUESTS} requests, {len(NEEDED)} of them need a skill",
        "characters told",
        "of push",
        "read by the model",
        "wall s",
        "CLI processes",
        "model requests",
        "needed and told",
    )
    lines = [
        [
            name,
            f"{way.told:,}",
            f"{way.told / ways['push'].told:.0%}",
            f"{way.read:,}",
            f"{way.wall:.1f}",
            str(way.runs),
            str(way.asked),
            f"{way.present} of {len(NEEDED)}",
        ]
        for name, way in ways.items()
    ]
    return report.table(columns, lines)
