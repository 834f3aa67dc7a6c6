"""Claude Code, one process a turn: the pack goes into the system slot, the prompt to stdin."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from mufakat.core.talk.turn import Reply
from mufakat.engines.claude import command, events
from mufakat.engines.cli import doctor, one_shot, program, session_id
from mufakat.ports.engine import Capabilities, OnEvent, Options, Probe, Run

FACTS = doctor.Facts(
    name="claude",
    usual="claude",
    package="npm install -g @anthropic-ai/claude-code",
    login="Run `claude` once and log in, or set ANTHROPIC_API_KEY.",
    key_variables=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ),
    models=("fable", "opus", "sonnet", "haiku"),
    notes=(
        "CLAUDE.md, user and project settings and their hooks are not loaded; "
        "`--setting-sources project` in `args` loads them all together.",
    ),
    keychain=True,
)
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md")


class Claude:
    """The installed `claude` with the user's own login."""

    name = "claude"

    def __init__(self, options: Options, *, home: Path, environ: Mapping[str, str]) -> None:
        self._options = options
        self._home = home
        self._environ = environ
        self._asker = program.Asker(
            home / "engines" / self.name,
            home_mark=one_shot.home_mark(home),
            help=("--help",),
        )
        self.capabilities = Capabilities(
            splits_system=True,
            expands_at=True,
            resume=True,
            fork=True,
            mcp=True,
            hooks=True,
            cumulative_usage=True,
            cost=True,
            prompt_chars=2_500_000,
            window_tokens=options.window_tokens,
            vendor="anthropic",
        )

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Run one turn; see the port."""
        path = await one_shot.find(self._options, FACTS.usual, self._environ)
        refused = one_shot.refused(path, run, FACTS, session_id.UUID, self._options)
        if refused:
            return refused
        about = await self._asker.about(path, self._env(), cancel=cancel)
        if run.fork and command.FORK not in about.flags:
            return one_shot.cannot_fork(FACTS)
        prepared = command.build(
            run, self._options, program=path, flags=about.flags, environ=self._environ
        )
        own = "" if run.fork else run.resume
        parser = events.Claude(own or session_id.named_for(run.id), run.running_total)
        return await one_shot.execute(
            run, prepared, parser, on_event, home=self._home, cancel=cancel
        )

    def present(self) -> bool:
        """Look for the program alone."""
        return bool(program.find(self._options.command, FACTS.usual, self._environ))

    async def probe(self) -> Probe:
        """Look for the program and its login."""
        env = self._env()
        folder = Path(env.get("CLAUDE_CONFIG_DIR") or f"{env.get('HOME', '')}/.claude")
        return await doctor.probe(
            FACTS,
            self._options,
            self._asker,
            environ=self._environ,
            env=env,
            credentials=[folder / ".credentials.json"],
        )

    def _env(self) -> Mapping[str, str]:
        return command.env(self._options, self._environ)

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """CLAUDE.md, where `args` let it be loaded."""
        args = self._options.args
        sources = {b for a, b in zip(args, args[1:], strict=False) if a == "--setting-sources"}
        project = any("project" in source for source in sources)
        return doctor.loaded(folder, INSTRUCTIONS) if project else ()
