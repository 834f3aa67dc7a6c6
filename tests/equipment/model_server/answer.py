"""What the scripted model says in one turn, before a protocol puts it on the wire."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from equipment.model_server.view import View


class Event(NamedTuple):
    """One server-sent event; protocols without event names leave `name` None."""

    name: str | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; `raw` is the text input of a Codex freeform tool, which has no arguments."""

    name: str
    args: dict[str, Any]
    raw: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts of one answer."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The content of one model answer; `chunk` is the characters per streamed piece."""

    model: str
    text: str
    calls: tuple[Call, ...]
    usage: Usage
    thinking: str = ""
    chunk: int = 24

    def pieces(self) -> Iterator[str]:
        """The text in streaming pieces; nothing at all for an empty text."""
        return cut(self.text, self.chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How one wire protocol is recognised, read and answered."""

    name: str
    path: str
    view: Callable[[dict[str, Any], str], View]
    events: Callable[[Answer], Iterator[Event]]
    collapse: Callable[[list[Event]], dict[str, Any]]
    error: Callable[[int, str], dict[str, Any]]
    last_line: bytes = b""


def cut(text: str, size: int) -> Iterator[str]:
    """Split a text into pieces of `size` characters."""
    step = max(1, size)
    return (text[start : start + step] for start in range(0, len(text), step))


def new_id(prefix: str) -> str:
    """A fresh identifier in the style of the vendors."""
    return prefix + uuid.uuid4().hex[:20]
