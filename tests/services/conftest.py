"""A real application in a temporary home, and engines whose behaviour a test chooses."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.app import App
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Reply, Status
from mufakat.ports.engine import Capabilities, OnEvent, Probe, Run
from mufakat.services.request import Ask
from mufakat.services.roster import Roster
from mufakat.settings import load

Behaviour = Callable[[Run, OnEvent, asyncio.Event], Awaitable[Reply]]


class Puppet:
    """An engine that does what the test says, and remembers what it was handed."""

    def __init__(self, name: str, behave: Behaviour, capabilities: Capabilities) -> None:
        self.name = name
        self.capabilities = capabilities
        self.runs: list[Run] = []
        self._behave = behave

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        self.runs.append(run)
        return await self._behave(run, on_event, cancel)

    def instructions(self, folder: Path) -> tuple[str, ...]:
        return (str(folder / "PUPPET.md"),)

    def present(self) -> bool:
        return True

    async def probe(self) -> Probe:
        return Probe(self.name, True)


async def answers(run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
    """Names a session and answers with the number of characters it was told."""
    session = run.resume or f"session-{run.id}"
    await on_event(stream.SessionStarted(session))
    text = f"told {len(run.delivery.system) + len(run.delivery.user)}"
    await on_event(stream.Text(text))
    return Reply(Status.DONE, text=text, session=session)


SPLIT = Capabilities(splits_system=True, expands_at=True, resume=True)
INLINE = Capabilities(resume=True)


@dataclasses.dataclass
class House:
    """An application, the folder it works on, and a short way to ask."""

    app: App
    project: Path
    home: Path

    async def ask(self, prompt: str, **more: object) -> object:
        ask = Ask(prompt, str(self.project), **more)  # type: ignore[arg-type]
        turn = await self.app.turns.ask(ask)
        return await self.app.turns.wait(turn.id, seconds=20)

    def seat(self, *puppets: Puppet) -> None:
        """Put engines into the room beside the built-in ones."""
        roster: Roster = self.app.roster
        roster._engines = {**roster._engines, **{p.name: p for p in puppets}}  # noqa: SLF001


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "README.md").write_text("# Demo\n\nA demo project that only tests look at.\n")
    (folder / "pyproject.toml").write_text("[project]\nname = 'demo'\n")
    return folder


@pytest.fixture
async def house(tmp_path: Path, project: Path) -> AsyncIterator[House]:
    home = tmp_path / "home"
    app = await application.build(load(home))
    try:
        yield House(app, project, home)
    finally:
        await app.close()
