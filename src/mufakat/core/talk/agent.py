"""An agent of a conversation: an engine in a role, under one identity for its whole life."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mufakat.core.base import AgentId, ConversationId, Millis


class Permission(StrEnum):
    """What a role may do; engines turn each into flags of their own."""

    READ = "read"
    """Read files and search; nothing can be changed."""
    RUN = "run"
    """Read, and run commands; files are not edited."""
    WRITE = "write"
    """Read, and edit files of the project."""
    DEVELOP = "develop"
    """Read, edit files of the project and run commands."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role document: who the agent is here and what it may do."""

    name: str
    description: str
    text: str
    permission: Permission
    source: str
    """`builtin` or the file it came from."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A stored agent; the same engine in the same role is the same agent of its conversation."""

    id: AgentId
    conversation: ConversationId
    identity: str
    engine: str
    role: str
    persona: str
    created: Millis
