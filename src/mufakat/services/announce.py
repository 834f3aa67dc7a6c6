"""Announcing: events enter the log only without secrets, text pieces only once settled."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mufakat.core import secret_tail
from mufakat.core.base import ConversationId, Event, TurnId
from mufakat.core.talk import stream
from mufakat.core.talk.usage import Usage
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store

PIECE_SECONDS = 0.1
PIECE_CHARS = 2_000
OUTPUT_CHARS = 2_000
"""Of a tool's output; all of it stands in its message."""
KINDS: Mapping[type[stream.StreamEvent], str] = MappingProxyType(
    {
        stream.SessionStarted: "turn.session",
        stream.Text: "turn.text",
        stream.TextReset: "turn.text_reset",
        stream.Thought: "turn.thought",
        stream.Tool: "turn.tool",
        stream.PermissionAsked: "turn.permission",
        stream.UsageSeen: "turn.usage",
        stream.Notice: "turn.notice",
        stream.Unknown: "turn.unknown",
    }
)


def clean(data: Mapping[str, Any], scrub: Scrub) -> dict[str, Any]:
    """The same data without secrets in any of its texts."""
    return {name: _clean(value, scrub) for name, value in data.items()}


def _clean(value: Any, scrub: Scrub) -> Any:
    if isinstance(value, str):
        return scrub(value).text
    if isinstance(value, Mapping):
        return clean(value, scrub)
    if isinstance(value, list | tuple):
        return [_clean(part, scrub) for part in value]
    return value


class Announcer:
    """Writes one turn's stream to the log; pieces of text are joined for a tenth of a second."""

    def __init__(
        self, store: Store, scrub: Scrub, *, turn: TurnId, conversation: ConversationId
    ) -> None:
        self._store = store
        self._scrub = scrub
        self._turn = turn
        self._conversation = conversation
        self._held = ""
        self._last = float("-inf")

    async def take(self, event: stream.StreamEvent) -> None:
        """Announce one stream event."""
        if isinstance(event, stream.Text):
            self._held += event.text
            now = asyncio.get_running_loop().time()
            if now - self._last >= PIECE_SECONDS or len(self._held) >= PIECE_CHARS:
                self._last = now
                await self._release(secret_tail.settled(self._held))
            return
        await self.flush()
        kind, data = describe(event)
        await self.announce(kind, data)

    async def flush(self) -> None:
        """Announce what is still held back."""
        await self._release(len(self._held))

    async def _release(self, length: int) -> None:
        if not length:
            return
        piece, self._held = self._held[:length], self._held[length:]
        await self.announce("turn.text", {"text": piece})

    async def announce(self, kind: str, data: Mapping[str, Any]) -> None:
        """Write one event about the turn."""
        event = self.event(kind, data)
        await self._store.write(lambda tx: tx.events.record(event))

    def event(self, kind: str, data: Mapping[str, Any]) -> Event:
        """Make an event about the turn, without secrets."""
        body = {"conversation": self._conversation, **clean(data, self._scrub)}
        return Event(kind, self._turn, body)


def describe(event: stream.StreamEvent) -> tuple[str, dict[str, Any]]:
    """The log's kind and data of a stream event."""
    kind = KINDS[type(event)]
    data: dict[str, Any] = {
        field.name: getattr(event, field.name) for field in dataclasses.fields(event)
    }
    match event:
        case stream.Tool():
            data |= {"status": event.status.value, "output": event.output[:OUTPUT_CHARS]}
        case stream.UsageSeen():
            data = usage_data(event.usage)
        case stream.Unknown():
            data = {"type": event.type}
    return kind, data


def usage_data(usage: Usage) -> dict[str, Any]:
    """A usage as plain data."""
    return {
        "fresh": usage.fresh,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "cost": usage.cost,
    }
