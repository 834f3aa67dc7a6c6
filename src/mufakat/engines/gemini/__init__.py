"""Gemini CLI, one process a turn, in a private home that borrows the user's login."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines.cli import doctor, invocation, one_shot, program, session_id
from mufakat.engines.gemini import command, events, login, workspace
from mufakat.ports.engine import Capabilities, OnEvent, Options, Probe, Run

FACTS = doctor.Facts(
    name="gemini",
    usual="gemini",
    package="npm install -g @google/gemini-cli",
    login="Run `gemini` once and log in, or set GEMINI_API_KEY.",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    notes=(
        "Loads GEMINI.md of the project by itself; the user's own settings are not read.",
        "A project with its own .gemini settings, policies, agents or extensions is refused "
        "until the folder is trusted in Gemini itself.",
    ),
)
INSTRUCTIONS = ("GEMINI.md",)


class Gemini:
    """The installed `gemini` with the user's own login."""

    name = "gemini"

    def __init__(self, options: Options, *, home: Path, environ: Mapping[str, str]) -> None:
        self._options = options
        self._home = home
        self._environ = environ
        self.capabilities = Capabilities(
            expands_at=True,
            resume=True,
            system_on_resume=True,
            mcp=True,
            hooks=True,
            # It repeats the prompt on stdout and may exit before a reader has taken more than
            # the pipe holds: a longer prompt could lose the answer.
            prompt_chars=250_000,
            window_tokens=options.window_tokens,
            vendor="google",
        )

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Run one turn; see the port."""
        path = await one_shot.find(self._options, FACTS.usual, self._environ)
        refused = one_shot.refused(path, run, FACTS, session_id.UUID, self._options)
        refused = refused or await asyncio.to_thread(self._refused, run.cwd)
        if refused:
            return refused
        try:
            prepared = await asyncio.to_thread(self._prepare, run, path)
        except OSError as error:
            return Reply(Status.FAILED, failure=Failure.INTERNAL, message=f"Cannot write: {error}")
        parser = events.Gemini(run.resume or session_id.named_for(run.id))
        try:
            return await one_shot.execute(
                run, prepared, parser, on_event, home=self._home, cancel=cancel
            )
        finally:
            # The answer counts for more; what could not be given back is tried at the next turn.
            with suppress(OSError):
                await asyncio.to_thread(login.settle, self._user(), run.workspace / command.FOLDER)

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """GEMINI.md of the project."""
        return doctor.loaded(folder, INSTRUCTIONS)

    def present(self) -> bool:
        """Look for the program alone."""
        return bool(program.find(self._options.command, FACTS.usual, self._environ))

    async def probe(self) -> Probe:
        """Look for the program and its login."""
        folder = self._home / "engines" / self.name
        mark = one_shot.home_mark(self._home)
        return await doctor.probe(
            FACTS,
            self._options,
            program.Asker(folder, home_mark=mark),
            environ=self._environ,
            env={**self._env(), "GEMINI_CLI_HOME": str(folder)},
            credentials=[self._user() / name for name in login.LENT if name != "installation_id"],
        )

    def _refused(self, cwd: Path) -> Reply | None:
        found = workspace.danger(cwd, self._user())
        if not found:
            return None
        return Reply(
            Status.FAILED,
            failure=Failure.REFUSED,
            message=f"Gemini would obey {found}. Start `gemini` in {cwd} once and trust the "
            "folder, or remove the file.",
        )

    def _prepare(self, run: Run, path: str) -> invocation.Invocation:
        login.lend(self._user(), run.workspace / command.FOLDER)
        return command.build(
            run,
            self._options,
            program=path,
            login=login.kind(self._user(), self._env()),
            environ=self._environ,
        )

    def _env(self) -> Mapping[str, str]:
        return command.env(self._options, self._environ)

    def _user(self) -> Path:
        """The user's own folder of Gemini."""
        given = {**self._environ, **self._options.env}
        return Path(given.get("GEMINI_CLI_HOME") or given.get("HOME") or "/nowhere") / ".gemini"
