"""Which moments of an engine's turn Mufakat hears of, and how each engine names them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

TIMEOUT = 10
"""Seconds that an engine gives a hook; the hook itself gives up after two."""
PROBE = "mufakat-doctor-"
"""How a session id begins that `doctor` sends through an installed hook: nobody joins by it."""
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


class Moment(StrEnum):
    """The moments of a session."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    PRE_TOOL = "pre-tool"
    POST_TOOL = "post-tool"
    PERMISSION = "permission"
    STOP = "stop"
    IDLE = "idle"
    """After a turn, where its end itself does not tell what was said last."""
    SESSION_END = "session-end"


IN_A_RUN = frozenset({Moment.PRE_TOOL, Moment.POST_TOOL, Moment.PERMISSION, Moment.STOP})
"""What an agent that Mufakat runs has to tell: its pack has told it what is new, and who starts it
knows when it begins and ends. Each hook costs the engine a process."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine's settings name the moments."""

    events: Mapping[str, Moment]
    """The engine's name of an event → the moment."""
    edits: str = ""
    """Pattern of the tools that edit files; empty where the engine takes none."""
    milliseconds: bool = False
    """Whether it counts a hook's time in milliseconds."""


_CLAUDE = {
    "SessionStart": Moment.SESSION_START,
    "UserPromptSubmit": Moment.PROMPT,
    "PreToolUse": Moment.PRE_TOOL,
    "PostToolUse": Moment.POST_TOOL,
    "PermissionRequest": Moment.PERMISSION,
    "Stop": Moment.STOP,
    "SessionEnd": Moment.SESSION_END,
}
_GEMINI = {
    "SessionStart": Moment.SESSION_START,
    "BeforeAgent": Moment.PROMPT,
    "BeforeTool": Moment.PRE_TOOL,
    "AfterTool": Moment.POST_TOOL,
    "Notification": Moment.PERMISSION,
    "AfterAgent": Moment.STOP,
    "SessionEnd": Moment.SESSION_END,
}
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "claude": Dialect(_CLAUDE, "Edit|Write|MultiEdit|NotebookEdit"),
        "codex": Dialect(_CLAUDE),
        "gemini": Dialect(_GEMINI, "write_file|replace", milliseconds=True),
    }
)
"""Of the engines that start a command for every moment."""


def settings(
    engine: str,
    command: Sequence[str],
    *,
    home: str = "",
    moments: frozenset[Moment] = frozenset(Moment),
) -> dict[str, list[object]]:
    """The `hooks` part of an engine's settings: event → its groups, of the moments that are told.

    `command` starts the hook client; engine, moment and, where one is given, `home` follow it.
    """
    dialect = DIALECTS[engine]
    made: dict[str, list[object]] = {}
    for event, moment in dialect.events.items():
        if moment not in moments:
            continue
        words = [*command, engine, moment, *([home] if home else [])]
        hook: dict[str, object] = {"type": "command", "command": shell(words)}
        hook["timeout"] = TIMEOUT * (1000 if dialect.milliseconds else 1)
        group: dict[str, object] = {"hooks": [hook]}
        if dialect.edits and moment is Moment.PRE_TOOL:
            group = {"matcher": dialect.edits, **group}
        made[event] = [group]
    return made


def shell(words: Sequence[str]) -> str:
    """One line that a POSIX shell takes as these words."""
    return " ".join(word if _PLAIN.fullmatch(word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"
