"""A conversation: the thread that people and agents share in a project."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import ConversationId, Millis, ProjectId


@dataclass(frozen=True, slots=True)
class Project:
    """A folder that agents work on."""

    id: ProjectId
    name: str
    path: str
    """Absolute and resolved."""
    created: Millis


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread of messages, with the counters that packing needs kept beside it."""

    id: ConversationId
    project: ProjectId
    title: str
    fence: str
    """Random, 128 bits or more: the mark in front of every quoted message in its packs."""
    created: Millis
    updated: Millis
    messages: int = 0
    """Number of the newest message: all kinds, numbered without gaps."""
    talk: int = 0
    """Messages of people and agents alone."""
    chars: int = 0
    window_start: int = 1
    """First message of the newest pack's history window, kept so that packs share a prefix."""


def title_of(prompt: str, limit: int = 80) -> str:
    """Name a conversation after its first prompt: its first line, cut at a word."""
    line = next((part.strip() for part in prompt.splitlines() if part.strip()), "Untitled")
    if len(line) <= limit:
        return line
    return line[: limit - 1].rsplit(" ", 1)[0].rstrip() + "…"
