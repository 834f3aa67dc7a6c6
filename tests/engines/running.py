"""Running one turn of an engine, and reading recorded or invented streams with its parser."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equipment import clis
from equipment.model_server import server
from mufakat.core.pack.deliver import Delivery
from mufakat.core.talk import stream
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Reply
from mufakat.core.talk.usage import Usage
from mufakat.engines import registry
from mufakat.engines.claude import events as claude
from mufakat.engines.cli import one_shot, verdict
from mufakat.engines.codex import events as codex
from mufakat.engines.gemini import events as gemini
from mufakat.engines.opencode import events as opencode
from mufakat.engines.process import procfs
from mufakat.engines.process.command import Ended, Line, Outcome
from mufakat.ports.engine import Engine, Options, Run

RECORDED = Path(__file__).parents[1] / "equipment" / "recorded"
KEPT_EVENTS = 5000
"""More would be measured as the engine's own memory."""
CLIS = ("claude", "codex", "gemini", "opencode")


@dataclass
class Turn:
    """What one run gave."""

    reply: Reply
    events: list[stream.StreamEvent]
    left: list[int]
    """Processes that still carry the run's mark."""

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def streamed(self) -> str:
        """What a listener has on its screen at the end."""
        text = ""
        for event in self.events:
            if isinstance(event, stream.TextReset):
                text = ""
            elif isinstance(event, stream.Text):
                text += event.text
        return text


@dataclass
class Bench:
    """An engine with a project, a workspace and a home of its own."""

    engine: Engine
    project: Path
    workspace: Path
    home: Path
    model: str = ""

    async def turn(
        self,
        user: str = "Say hello.",
        *,
        system: str = "",
        permission: Permission = Permission.READ,
        cancel: asyncio.Event | None = None,
        cancel_when: Callable[[list[stream.StreamEvent]], bool] | None = None,
        idle: float = 60.0,
        total: float = 90.0,
        **more: Any,
    ) -> Turn:
        """Run one turn; `cancel_when` looks at the events so far."""
        events: list[stream.StreamEvent] = []
        stop = cancel or asyncio.Event()

        async def keep(event: stream.StreamEvent) -> None:
            if len(events) < KEPT_EVENTS:
                events.append(event)
            if cancel_when and cancel_when(events):
                stop.set()

        form = "split" if system else "inline"
        run = Run(
            id=more.pop("id", uuid.uuid4().hex),
            delivery=Delivery(system, user, form),
            cwd=more.pop("cwd", self.project),
            permission=permission,
            workspace=self.workspace,
            model=more.pop("model", self.model),
            idle_seconds=idle,
            total_seconds=total,
            **more,
        )
        reply = await self.engine.run(run, keep, cancel=stop)
        left = [pid for pid in procfs.table() if procfs.mark(pid, procfs.RUN_MARK) == run.id]
        return Turn(reply, events, left)


def bench(name: str, place: Path, options: Options, **environ: str) -> Bench:
    """An engine by name, in fresh folders below `place`."""
    folders = [place / part for part in ("project", "workspace", "mufakat")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    project, workspace, home = folders
    (project / "README.md").write_text("# demo\nThe secret word is PELICAN.\n", encoding="utf-8")
    given = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(place / "home"), **environ}
    engine = registry.build(registry.discover()[name], options, home=home, environ=given)
    assert not isinstance(engine, registry.Found), engine
    return Bench(engine, project, workspace, home, options.model)


def real(name: str, place: Path, model: server.ModelServer, *, retries: int = 1) -> Bench:
    """A real CLI that talks to the model server."""
    setup = clis.setup(name, model.base, place / "home", retries=retries)
    options = Options(
        command=str(setup.command),
        model=setup.model,
        args=setup.args,
        env=setup.env,
        config=setup.config,
    )
    made = bench(name, place, options)
    git = ["git", "init", "-q", "--initial-branch=main", str(made.project)]
    subprocess.run(git, check=True, env={"PATH": os.environ["PATH"], "HOME": str(place)})
    return made


def parser(name: str, *, expected: str = "", before: Usage | None = None) -> one_shot.Parser:
    """A fresh parser of a CLI."""
    earlier = before or Usage()
    match name:
        case "claude":
            return claude.Claude(expected, earlier)
        case "codex":
            return codex.Codex(expected, earlier)
        case "gemini":
            return gemini.Gemini(expected)
        case _:
            return opencode.OpenCode(expected)


@dataclass
class Read:
    """What a parser made of a stream."""

    events: list[stream.StreamEvent] = field(default_factory=list)
    reply: Reply | None = None

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def read(
    name: str,
    lines: Iterable[str],
    *,
    exit_code: int = 0,
    stderr: str = "",
    ended: Ended = Ended.EXITED,
    expected: str = "",
    before: Usage | None = None,
) -> Read:
    """Put lines through a parser and judge the end."""
    made = parser(name, expected=expected, before=before)
    found = Read()
    size = 0
    for line in lines:
        size += len(line) + 1
        found.events += one_shot.events_of(made, Line(line))
    outcome = Outcome(ended, exit_code, (), stderr, size, Path("raw"))
    found.reply = verdict.reply(made.said(exit_code), outcome)
    return found


def recorded(name: str, scenario: str) -> tuple[list[str], dict[str, Any]]:
    """The lines and the meta document of a recording."""
    folder = RECORDED / name
    lines = (folder / f"{scenario}.jsonl").read_text(encoding="utf-8").split("\n")
    meta = json.loads((folder / f"{scenario}.meta.json").read_text(encoding="utf-8"))
    return lines, meta


def read_recorded(name: str, scenario: str, **more: Any) -> Read:
    """A recording through its parser."""
    lines, meta = recorded(name, scenario)
    return read(name, lines, exit_code=meta["exit_code"], stderr=meta["stderr_tail"], **more)
