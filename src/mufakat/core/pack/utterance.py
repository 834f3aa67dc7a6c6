"""A message as a pack can tell it: whole, both ends, one line, or only its name."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core import text
from mufakat.core.pack import item, quote
from mufakat.core.pack.item import Resolution, Told, Trust
from mufakat.core.talk.message import Kind, Message


@dataclass(frozen=True, slots=True)
class Said:
    """A message in the form chosen for it."""

    number: int
    told: Told
    text: str


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
    return _said(message, head + body + "\n", resolution)


def prune(message: Message, fence: str) -> Said:
    """Render an old tool result as one line: what ran and how much came of it."""
    label = text.one_line(quote.inert(message.label, fence), 160) or "tool"
    head = quote.header(fence, message.number, _speaker(message))
    line = f"{label} → {message.chars:,} characters, not shown"
    return _said(message, head + line + "\n", Resolution.REFERENCE)


def _ends(
    message: Message, fence: str, limit: int, resolution: Resolution
) -> tuple[str, Resolution]:
    body = quote.inert(message.text, fence)
    if message.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT} and message.label:
        body = f"[{text.one_line(quote.inert(message.label, fence), 160)}]\n{body}"
    if message.whole and len(body) <= limit:
        return body, resolution if resolution is Resolution.FULL else Resolution.TRIMMED
    note = f"… {message.chars:,} characters in all; the middle of m:{message.number} is left out …"
    if not message.whole and len(body) <= limit:
        middle = len(body) * 3 // 4
        return f"{text.cut(body, middle)}\n{note}\n{body[middle:]}", Resolution.TRIMMED
    return text.head_and_tail(body, limit, note=note), Resolution.TRIMMED


def _speaker(message: Message) -> str:
    if message.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT}:
        return f"{message.speaker} {message.kind.value.replace('_', ' ')}"
    return message.speaker


def _said(message: Message, rendered: str, resolution: Resolution) -> Said:
    less = resolution is not Resolution.FULL
    return Said(
        message.number,
        Told(
            id=f"m:{message.number}",
            resolution=resolution,
            chars=len(rendered),
            digest=item.digest(rendered),
            source=f"message {message.id}",
            trust=Trust.PEER,
            author=message.speaker,
            full_chars=message.chars if less else 0,
            key=f"m:{message.number}" if less else "",
        ),
        rendered,
    )
