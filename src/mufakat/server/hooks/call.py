"""A hook's call in Mufakat's words, whichever engine it comes from, and the answer to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mufakat.core.coordination.hooks import Moment


@dataclass(frozen=True, slots=True)
class Process:
    """The process that the agent is; zero where it is not known."""

    pid: int = 0
    start: int = 0
    boot: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """What an engine tells at one moment."""

    engine: str
    moment: Moment
    session: str
    turn: str = ""
    """The engine's own id of the turn; empty where it has none."""
    prompt: str = ""
    said: str = ""
    """Its last words, at the end of a turn."""
    cwd: str = ""
    source: str = ""
    """How a session started: `startup`, `resume`, `clear`, `compact`."""
    paths: tuple[str, ...] = ()
    """Absolute paths of the files that the tool is about to change."""
    within: bool = False
    """It comes from an agent within the agent, which gets nothing of its mail."""
    background: bool = False
    """Work goes on behind the turn."""
    asks: bool = True
    """Whether a notice is about a permission that a person is asked for."""
    process: Process = field(default_factory=Process)
    skipped: int = 0
    """Calls since the last one that did not reach the server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine should do; at most one of the first three is set."""

    context: str = ""
    """Text for the model."""
    deny: str = ""
    """Why the tool may not run."""
    block: str = ""
    """What is still to be done before the turn may end."""
    bearer: str = ""
    """Token of a session that has just joined; for the hook client, not for the engine."""


def text(data: Mapping[str, Any], name: str) -> str:
    """A member that is a text, else nothing."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def number(data: Mapping[str, Any], name: str) -> int:
    """A member that is a whole number not below zero, else 0."""
    value = data.get(name)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return max(0, int(value)) if whole and value is not None else 0


def table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that is an object, else an empty one."""
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def process(data: Mapping[str, Any]) -> Process:
    """The process, as the hook client tells it."""
    told = table(data, "mufakat")
    return Process(number(told, "pid"), number(told, "pid_start"), text(told, "boot"))
