"""A message as a pack can tell it: whole, both ends, one line, or only its name."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core import quote, text
from mufakat.core.pack import item
from mufakat.core.pack.item import Resolution, Told, Trust
from mufakat.core.talk.message import Kind, Message


@dataclass(frozen=True, slots=True)
class Said:
    """A message in the form chosen for it."""

    message: Message
    resolution: Resolution
    text: str

    @property
    def number(self) -> int:
        return self.message.number

    @property
    def told(self) -> Told:
        """What the receipt says of it; made only of what is told, because it hashes the text."""
        message = self.message
        less = self.resolution is not Resolution.FULL
        return Told(
            id=f"m:{message.number}",
            resolution=self.resolution,
            chars=len(self.text),
            digest=item.digest(self.text),
            source=f"message {message.id}",
            trust=Trust.PEER,
            author=message.speaker,
            full_chars=message.chars if less else 0,
            key=f"m:{message.number}" if less else "",
        )


def say(message: Message, fence: str, *, resolution: Resolution, limit: int = quote.LONG) -> Said:
    """Render a message at `resolution`, or one step lower where it is longer than `limit`.

    `limit` bounds the text below the header, in characters.
    """
    head = quote.header(fence, message.number, _speaker(message))
    match resolution:
        case Resolution.FULL | Resolution.TRIMMED:
            body, resolution = _ends(message, fence, limit, resolution)
        case Resolution.DIGEST:
            body = text.one_line(quote.inert(message.text, fence), min(limit, quote.DIGEST_CHARS))
        case Resolution.REFERENCE:
            body = f"[{message.chars:,} characters, not shown]"
    return Said(message, resolution, f"{head}{body}\n")


def prune(message: Message, fence: str) -> Said:
    """Render an old tool result as one line: what ran and how much came of it."""
    label = text.one_line(quote.inert(message.label, fence), 160) or "tool"
    head = quote.header(fence, message.number, _speaker(message))
    line = f"{label} → {message.chars:,} characters, not shown"
    return Said(message, Resolution.REFERENCE, f"{head}{line}\n")


def _ends(
    message: Message, fence: str, limit: int, resolution: Resolution
) -> tuple[str, Resolution]:
    body = quote.inert(message.text, fence)
    if message.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT} and message.label:
        body = f"[{text.one_line(quote.inert(message.label, fence), 160)}]\n{body}"
    if message.whole and len(body) <= limit:
        return body, resolution if resolution is Resolution.FULL else Resolution.TRIMMED
    note = f"… {message.chars:,} characters in all; the middle of m:{message.number} is left out …"
    # A clipped text has its hole at three quarters, where the cut falls again if it is made.
    room = limit if message.whole else min(limit, len(body) - 1)
    return text.head_and_tail(body, room, note=note), Resolution.TRIMMED


def _speaker(message: Message) -> str:
    if message.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT}:
        return f"{message.speaker} {message.kind.value.replace('_', ' ')}"
    return message.speaker
