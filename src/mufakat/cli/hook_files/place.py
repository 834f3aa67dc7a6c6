"""Where each engine keeps the settings that hooks stand in: the person's, or a project's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ENGINES = ("claude", "codex", "gemini", "opencode")


class Scope(StrEnum):
    """Whose settings."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Place:
    """One file of settings."""

    engine: str
    scope: Scope
    path: Path
    note: str = ""
    """What the person must do before the engine obeys it."""


def places(engine: str, *, environ: Mapping[str, str], project: Path) -> tuple[Place, Place]:
    """The user's file and the project's."""
    user = Path(environ.get("HOME") or Path.home())
    match engine:
        case "claude":
            own = Path(environ.get("CLAUDE_CONFIG_DIR") or user / ".claude") / "settings.json"
            # The one that Claude keeps out of version control: our paths are this machine's.
            local = project / ".claude" / "settings.local.json"
            note = ""
        case "codex":
            own = Path(environ.get("CODEX_HOME") or user / ".codex") / "config.toml"
            local = project / ".codex" / "config.toml"
            note = "Start `codex` once and trust the hooks when it asks (`/hooks`)."
        case "gemini":
            folder = Path(environ.get("GEMINI_CLI_HOME") or user)
            own = folder / ".gemini" / "settings.json"
            local = project / ".gemini" / "settings.json"
            note = ""
        case _:
            config = Path(environ.get("XDG_CONFIG_HOME") or user / ".config")
            own = config / "opencode" / "plugin" / "mufakat.js"
            local = project / ".opencode" / "plugin" / "mufakat.js"
            note = ""
    return (Place(engine, Scope.USER, own, note), Place(engine, Scope.PROJECT, local, note))
