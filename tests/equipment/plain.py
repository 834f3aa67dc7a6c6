"""One turn of each CLI by its plain command line, without any code of Mufakat.

The recordings and the test of the equipment itself use it; the adapters build their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from equipment import clis, process


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What is asked: `session` names a new session, `resume` an old one."""

    prompt: str
    session: str | None = None
    resume: str | None = None
    extra: tuple[str, ...] = ()


def run(setup: clis.CliSetup, turn: Turn, project: Path, timeout: float = 60.0) -> process.Finished:
    """Run one turn in `project` with every tool allowed."""
    argv, env = COMMANDS[setup.name](setup, turn)
    return process.run(
        argv, env={**setup.env, **env}, cwd=project, stdin=turn.prompt, timeout=timeout
    )


Command = tuple[list[str], dict[str, str]]


def claude(setup: clis.CliSetup, turn: Turn) -> Command:
    """`claude -p` with the prompt on stdin."""
    argv = [str(setup.command), "-p", "--output-format", "stream-json", "--verbose"]
    argv += ["--model", setup.model, "--permission-mode", "dontAsk", "--allowedTools", "Bash,Write"]
    argv += ["--setting-sources", "", "--strict-mcp-config"]
    if turn.session:
        argv += ["--session-id", turn.session]
    if turn.resume:
        argv += ["--resume", turn.resume]
    return [*argv, *setup.args, *turn.extra], {}


def codex(setup: clis.CliSetup, turn: Turn) -> Command:
    """`codex exec` with the prompt on stdin; `session` cannot be chosen."""
    argv = [str(setup.command), "exec", *(["resume"] if turn.resume else [])]
    argv += ["--json", "--skip-git-repo-check", "--ignore-user-config", "--disable", "plugins"]
    for setting in (
        'approval_policy="never"',
        'sandbox_mode="workspace-write"',
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
    ):
        argv += ["-c", setting]
    argv += [*setup.args, "-m", setup.model, *turn.extra]
    return [*argv, *([turn.resume] if turn.resume else []), "-"], {}


def gemini(setup: clis.CliSetup, turn: Turn) -> Command:
    """`gemini` with the prompt on stdin and its settings in the private home."""
    home = Path(setup.env["HOME"])
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(setup.config), encoding="utf-8")
    argv = [str(setup.command), "-o", "stream-json", "-m", setup.model]
    argv += ["--approval-mode", "yolo", "--skip-trust"]
    if turn.session:
        argv += ["--session-id", turn.session]
    if turn.resume:
        argv += ["--resume", turn.resume]
    env = {"GEMINI_CLI_HOME": str(home), "GEMINI_CLI_NO_RELAUNCH": "true"}
    return [*argv, *setup.args, *turn.extra], env


def opencode(setup: clis.CliSetup, turn: Turn) -> Command:
    """`opencode run` with the prompt on stdin; `session` cannot be chosen."""
    argv = [str(setup.command), "run", "--format", "json", "--title", "t"]
    if turn.resume:
        argv += ["--session", turn.resume]
    config = {**setup.config, "permission": "allow", "snapshot": False}
    return [*argv, *setup.args, *turn.extra], {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}


COMMANDS: dict[str, Callable[[clis.CliSetup, Turn], Command]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}
