"""A running instance: who joined, from where, and what it said of itself last."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import AgentId, Millis, ProjectId
from mufakat.core.coordination.state import Standing


@dataclass(frozen=True, slots=True)
class Binding:
    """What an instance runs as; empty or 0 where it is not known."""

    session: str = ""
    """The engine's own session id."""
    pid: int = 0
    pid_start: int = 0
    """Clock ticks since boot, so that a reused pid is no danger."""
    boot: str = ""
    """Boot id of its machine; a pid means something on that machine alone."""
    cwd: str = ""
    repository: str = ""
    """Root of the working tree it works in."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An agent or a person that takes part; one row an identity, never deleted."""

    identity: str
    instance: str
    """Random 128 bits in hex; the identity carries the leading digits."""
    engine: str
    host: str
    role: str
    alias: str
    """A name to show and to route by; never identity."""
    project: ProjectId | None
    agent: AgentId | None
    """The seat in a conversation, for an agent that Mufakat itself runs."""
    parent: str
    """Identity it was forked from."""
    epoch: int
    """Grows when the same session joins again; an older epoch is superseded."""
    binding: Binding
    created: Millis
    seen: Millis
    """When it called last."""
    standing: Standing
    inbox_head: int = 0
    """Number of the newest entry of its inbox; gapless from 1."""
    acked: int = 0
    """Every entry up to this one is done with."""
