"""OpenCode, one process a turn: the pack and the prompt go to stdin together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from mufakat.core.talk.turn import Reply
from mufakat.engines.cli import doctor, one_shot, program, session_id
from mufakat.engines.opencode import command, events
from mufakat.ports.engine import Capabilities, OnEvent, Options, Probe, Run

FACTS = doctor.Facts(
    name="opencode",
    usual="opencode",
    package="npm install -g opencode-ai",
    login="Run `opencode auth login`, or set your provider's key.",
    key_variables=tuple(name for name in command.VARIABLES if name.endswith("_KEY")),
    notes=(
        "AGENTS.md of the project is loaded; opencode.json and .opencode of the project are not, "
        "as they can start programs.",
    ),
)
INSTRUCTIONS = ("AGENTS.md",)


class OpenCode:
    """The installed `opencode` with the user's own login."""

    name = "opencode"

    def __init__(self, options: Options, *, home: Path, environ: Mapping[str, str]) -> None:
        self._options = options
        self._home = home
        self._environ = environ
        self.capabilities = Capabilities(
            resume=True,
            fork=True,
            system_on_resume=True,
            mcp=True,
            hooks=True,
            cost=True,
            prompt_chars=1_250_000,
            window_tokens=options.window_tokens,
        )

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Run one turn; see the port."""
        path = await one_shot.find(self._options, FACTS.usual, self._environ)
        refused = one_shot.refused(path, run, FACTS, session_id.OPENCODE, self._options)
        if refused:
            return refused
        if run.fork and not await self._forks(path, cancel):
            return one_shot.cannot_fork(FACTS)
        loaded = await asyncio.to_thread(doctor.loaded, run.cwd, INSTRUCTIONS)
        prepared = command.build(
            run, self._options, program=path, instructions=loaded, environ=self._environ
        )
        parser = events.OpenCode("" if run.fork else run.resume)
        return await one_shot.execute(
            run, prepared, parser, on_event, home=self._home, cancel=cancel
        )

    async def _forks(self, path: str, cancel: asyncio.Event) -> bool:
        """Whether this version can; an older one takes no notice of the option and goes on."""
        asker = program.Asker(
            self._home / "engines" / self.name / "run",
            home_mark=one_shot.home_mark(self._home),
            help=("run", "--help"),
        )
        env = command.env(self._options, self._environ)
        return command.FORK in (await asker.about(path, env, cancel=cancel)).flags

    def present(self) -> bool:
        """Look for the program alone."""
        return bool(program.find(self._options.command, FACTS.usual, self._environ))

    async def probe(self) -> Probe:
        """Look for the program and its login."""
        env = command.env(self._options, self._environ)
        data = env.get("XDG_DATA_HOME") or f"{env.get('HOME', '')}/.local/share"
        mark = one_shot.home_mark(self._home)
        return await doctor.probe(
            FACTS,
            self._options,
            program.Asker(self._home / "engines" / self.name, home_mark=mark),
            environ=self._environ,
            env=env,
            credentials=[Path(data) / "opencode" / "auth.json"],
        )

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """AGENTS.md of the project, handed over by name, and of the user."""
        env = command.env(self._options, self._environ)
        config = env.get("XDG_CONFIG_HOME") or f"{env.get('HOME', '')}/.config"
        path = Path(config) / "opencode" / INSTRUCTIONS[0]
        own = (str(path),) if path.is_file() else ()
        return (*doctor.loaded(folder, INSTRUCTIONS), *own)
