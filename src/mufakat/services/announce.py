"""Announcing: events enter the log only without secrets, text pieces only once settled."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mufakat.core import secret_tail
from mufakat.core.base import ConversationId, Event, TurnId
from mufakat.core.pack.unmarked import Unmarked
from mufakat.core.talk import stream
from mufakat.core.talk.usage import Usage
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction

Step = Callable[[Transaction], None]

BETWEEN = "\n\n"
"""Between what several runs of a turn have said."""
PIECE_SECONDS = 0.1
PIECE_CHARS = 2_000
OUTPUT_CHARS = 2_000
"""Of a tool's output, all of which stands in its message, and of an unknown event."""
SCRUBBED_CHARS = OUTPUT_CHARS + secret_tail.LONGEST_HELD
"""Looked through for secrets before the cut, which could leave the first half of one."""
ASIDE = (stream.SessionStarted, stream.UsageSeen, stream.Compacted, stream.Notice, stream.Unknown)
"""May stand in the middle of a text, even of a secret in it: what is held then stays held."""
WHOLE = frozenset({"text"})
"""What is never cut; everything else in an event is a name or the beginning of something."""
KINDS: Mapping[type[stream.StreamEvent], str] = MappingProxyType(
    {
        stream.SessionStarted: "turn.session",
        stream.Text: "turn.text",
        stream.TextReset: "turn.text_reset",
        stream.Thought: "turn.thought",
        stream.Tool: "turn.tool",
        stream.PermissionAsked: "turn.permission",
        stream.UsageSeen: "turn.usage",
        stream.Compacted: "turn.compacted",
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
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has no word for it: one such number would make the log unreadable for everybody.
        return None
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
        self._kind = KINDS[stream.Text]
        self._last = float("-inf")
        self._unmarked = Unmarked()
        self._before = ""

    async def begin(self, nonce: str) -> None:
        """A run of the engine begins; markers with its nonce are no part of what people see."""
        await self.flush()
        self._unmarked = Unmarked(nonce)

    async def take(self, event: stream.StreamEvent, *, also: Step | None = None) -> None:
        """Announce one stream event; `also` is kept in the same transaction."""
        if isinstance(event, stream.Text):
            await self._take_text(self._unmarked.take(event.text, begins=event.begins))
            return
        if isinstance(event, stream.Thought):
            await self._take_piece(KINDS[type(event)], event.text)
            return
        if isinstance(event, stream.TextReset):
            self._unmarked, self._before = self._unmarked.anew(), ""
        kind, data = describe(event)
        made = self.event(kind, data)
        short = dataclasses.replace(made, data=shortened(made.data))
        release = 0 if isinstance(event, ASIDE) else len(self._held)
        await self._write(release, short, also=also)

    async def flush(self) -> None:
        """Announce what is still held back; the answer is over."""
        await self._write(len(self._held))
        self._end_text()
        await self._write(len(self._held))

    def _end_text(self) -> None:
        """Decide what may have become a marker; the next run's words stand apart."""
        rest = self._unmarked.end()
        if rest:
            self._kind = KINDS[stream.Text]
            self._held += self._before + rest
            self._before = ""
        if self._unmarked.told:
            self._before = BETWEEN
        self._unmarked = self._unmarked.anew()

    async def _take_text(self, text: str) -> None:
        if text:
            before, self._before = self._before, ""
            await self._take_piece(KINDS[stream.Text], before + text)

    async def _take_piece(self, kind: str, text: str) -> None:
        if kind != self._kind:
            await self._write(len(self._held))
            self._kind = kind
        self._held += text
        now = asyncio.get_running_loop().time()
        if now - self._last >= PIECE_SECONDS or len(self._held) >= PIECE_CHARS:
            self._last = now
            await self._write(secret_tail.settled(self._held))

    async def _write(self, release: int, *more: Event, also: Step | None = None) -> None:
        """Write the first `release` characters held back, then `more`; held until written."""
        piece = self._held[:release]
        made = [*([self.event(self._kind, {"text": piece})] if piece else ()), *more]

        def step(tx: Transaction) -> None:
            for event in made:
                tx.events.record(event)
            if also is not None:
                also(tx)

        if made:
            await self._store.write(step)
            self._held = self._held[len(piece) :]

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
            data |= {"status": event.status.value, "output": event.output[:SCRUBBED_CHARS]}
        case stream.UsageSeen():
            data = usage_data(event.usage)
        case stream.Unknown():
            raw = json.dumps(event.raw, ensure_ascii=False, default=str)
            data = {"type": event.type[:SCRUBBED_CHARS], "raw": raw[:SCRUBBED_CHARS]}
    return kind, data


def shortened(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same data, free of secrets already, with its long texts cut."""
    return {
        name: value[:OUTPUT_CHARS] if isinstance(value, str) and name not in WHOLE else value
        for name, value in data.items()
    }


def usage_data(usage: Usage) -> dict[str, Any]:
    """A usage as plain data."""
    return {
        "fresh": usage.fresh,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "cost": usage.cost,
    }
