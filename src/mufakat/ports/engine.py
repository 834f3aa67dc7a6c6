"""The engine port: whatever runs an agent, a CLI or a model server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mufakat.core.pack.deliver import Delivery
from mufakat.core.talk import stream
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Reply
from mufakat.core.talk.usage import Usage


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do; the product asks these, never the engine's name."""

    splits_system: bool = False
    """Takes the pack in a system slot, the user's text apart."""
    expands_at: bool = False
    """Reads files named `@path` in the prompt, so quoted text must be neutralised."""
    resume: bool = False
    system_on_resume: bool = False
    """A new system text is honoured in a resumed session."""
    fork: bool = False
    """Goes on from a copy of a session, which itself stays as it is."""
    mcp: bool = False
    hooks: bool = False
    cumulative_usage: bool = False
    cost: bool = False
    permissions: frozenset[Permission] = frozenset(Permission)
    prompt_chars: int | None = None
    """Largest prompt it takes, in characters."""
    window_tokens: int | None = None
    """The model's window, where the settings or the engine say so."""
    vendor: str = ""
    """Who makes its models, where they are one's own."""
    is_model: bool = True
    """False for the scripted demo engine."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server that the agent gets for this run alone: a command, or a URL."""

    name: str
    """Letters, digits and `-` only: engines make tool names of it."""
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Access:
    """What lets an agent speak to the server that runs it; it ends with the run."""

    url: str
    token: str = field(repr=False)
    hook: tuple[str, ...] = ()
    """Command of the hook client; without it the run has no hooks."""
    home: str = ""
    """Folder where the hook client keeps what it could not tell."""

    @property
    def env(self) -> Mapping[str, str]:
        """The variables that hand it over: arguments could be read by others."""
        return {"MUFAKAT_URL": self.url, "MUFAKAT_TOKEN": self.token}


@dataclass(frozen=True, slots=True)
class Run:
    """One request to an engine."""

    id: str
    """Marks every process of the run."""
    delivery: Delivery
    cwd: Path
    permission: Permission
    workspace: Path
    """A private folder for this agent's files (pack, settings, spool); the caller made it."""
    model: str = ""
    resume: str = ""
    """Session to resume, empty for a fresh one."""
    fork: bool = False
    """Go on in a copy of that session; an engine that cannot answers SESSION_LOST."""
    running_total: Usage = field(default_factory=Usage)
    """The engine's counter at the end of the turn before, for engines that accumulate."""
    mcp: tuple[McpServer, ...] = ()
    access: Access | None = None
    idle_seconds: float = 300
    total_seconds: float = 3600


@dataclass(frozen=True, slots=True)
class Probe:
    """What `doctor` shows of an engine."""

    name: str
    available: bool
    path: str = ""
    version: str = ""
    login: str = "unknown"
    """`ok`, `missing`, `not needed` or `unknown`; read without touching a secret."""
    models: tuple[str, ...] = ()
    problem: str = ""
    fix: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """An engine's settings, as the user wrote them."""

    command: str = ""
    """Program name or path; empty means the engine's usual name on PATH."""
    model: str = ""
    args: tuple[str, ...] = ()
    """Put before the engine's own last arguments."""
    env: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)
    """Merged into the engine's inline configuration, where it has one."""
    base_url: str = ""
    api_key_env: str = ""
    """Name of the environment variable that holds the key; the key itself is never stored."""
    window_tokens: int | None = None


OnEvent = Callable[[stream.StreamEvent], Awaitable[None]]


class Engine(Protocol):
    """Runs one request at a time per call; safe to call concurrently."""

    name: str

    @property
    def capabilities(self) -> Capabilities: ...

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Run a request to its end; setting `cancel` ends it at any time.

        Never raises for what the engine or its model does: that is a Reply with a failure.
        """
        ...

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """Native instruction files (AGENTS.md …) that it would load by itself in `folder`."""
        ...

    def present(self) -> bool:
        """Look whether its program (or the address of its server) is there, starting nothing."""
        ...

    async def probe(self) -> Probe:
        """Look whether it could run, without a model call and without reading a secret."""
        ...
