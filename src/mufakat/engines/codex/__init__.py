"""Codex, one process a turn: the pack and the prompt go to stdin together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from mufakat.core.talk.turn import Reply
from mufakat.engines.cli import doctor, one_shot, program, session_id
from mufakat.engines.codex import command, events
from mufakat.ports.engine import Capabilities, OnEvent, Options, Probe, Run

FACTS = doctor.Facts(
    name="codex",
    usual="codex",
    package="npm install -g @openai/codex",
    login="Run `codex login`, or set CODEX_API_KEY.",
    key_variables=("CODEX_API_KEY", "OPENAI_API_KEY"),
    notes=(
        "Loads AGENTS.md of the project by itself; config.toml of the user is not read.",
        "Its sandbox cannot tell running commands from editing: `run`, `write` and `develop` "
        "are all workspace-write.",
    ),
)
INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md")


class Codex:
    """The installed `codex` with the user's own login."""

    name = "codex"

    def __init__(self, options: Options, *, home: Path, environ: Mapping[str, str]) -> None:
        self._options = options
        self._home = home
        self._environ = environ
        self.capabilities = Capabilities(
            resume=True,
            mcp=True,
            hooks=True,
            cumulative_usage=True,
            prompt_chars=1_048_576,
            window_tokens=options.window_tokens,
            vendor="openai",
        )

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Run one turn; see the port."""
        path = await one_shot.find(self._options, FACTS.usual, self._environ)
        refused = one_shot.refused(path, run, FACTS, session_id.UUID, self._options)
        if refused:
            return refused
        prepared = command.build(run, self._options, program=path, environ=self._environ)
        parser = events.Codex(run.resume, run.running_total)
        return await one_shot.execute(
            run, prepared, parser, on_event, home=self._home, cancel=cancel
        )

    def present(self) -> bool:
        """Look for the program alone."""
        return bool(program.find(self._options.command, FACTS.usual, self._environ))

    async def probe(self) -> Probe:
        """Look for the program and its login."""
        env = command.env(self._options, self._environ)
        asker = program.Asker(
            self._home / "engines" / self.name,
            home_mark=one_shot.home_mark(self._home),
        )
        return await doctor.probe(
            FACTS,
            self._options,
            asker,
            environ=self._environ,
            env=env,
            credentials=[_folder(env) / "auth.json"],
        )

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """AGENTS.md of the project and of the user."""
        own = _folder(command.env(self._options, self._environ))
        return doctor.loaded(folder, INSTRUCTIONS, beside=(own,))


def _folder(env: Mapping[str, str]) -> Path:
    return Path(env.get("CODEX_HOME") or f"{env.get('HOME', '')}/.codex")
