"""Quoting: a text from elsewhere becomes data under a header that it cannot forge."""

from __future__ import annotations

import bisect
import re

from mufakat.core import text

LONG = 4_000
"""Characters; a longer text is first reduced to its two ends, so that none empties the window."""
DIGEST_CHARS = 240
_OPENING = re.compile(r"(?=(<mufakat:([a-z-]{1,32})(?: [^>\n]{0,200})?>))")
_CLOSING = re.compile(r"</mufakat:([a-z-]{1,32})>")
_MARK = re.compile(r"<(/?)mufakat:", re.IGNORECASE)
LEFT_OUT = "[pack text left out]"


def inert(body: str, fence: str) -> str:
    """Take from a text all that could pass for the pack's own marks.

    Sections of an earlier pack that were quoted are left out: they are told afresh anyway.
    """
    body = text.clean(body)
    if "mufakat:" in body.lower():
        body = _without_sections(body)
        body = _MARK.sub(r"‹\1mufakat:", body)
    if fence and fence in body:
        body = body.replace(fence, "[fence]")
    return body


def _without_sections(body: str) -> str:
    """Leave out from each section's opening mark to the next closing one of its kind.

    All marks are found first: a search from each opening to the end of the text would take
    minutes for a megabyte of them.
    """
    closings: dict[str, list[tuple[int, int]]] = {}
    for mark in _CLOSING.finditer(body):
        closings.setdefault(mark[1], []).append(mark.span())
    parts: list[str] = []
    done = 0
    for mark in _OPENING.finditer(body):
        if mark.start() < done:
            continue
        ends = closings.get(mark[2], [])
        at = bisect.bisect_left(ends, (mark.end(1), 0))
        if at < len(ends):
            parts += [body[done : mark.start()], LEFT_OUT]
            done = ends[at][1]
    return "".join([*parts, body[done:]])


def header(fence: str, number: int, speaker: str) -> str:
    """The line in front of a quoted message; at most 40 characters beside the speaker."""
    return f"{fence} m:{number} {speaker}\n"


def open_section(kind: str, note: str = "") -> str:
    """The mark that begins a section."""
    return f"<mufakat:{kind} {note}>\n" if note else f"<mufakat:{kind}>\n"


def close_section(kind: str) -> str:
    """The mark that ends a section."""
    return f"\n</mufakat:{kind}>"


def frame_chars(kind: str, note: str = "") -> int:
    """Characters that a section's marks and the divider after it cost."""
    return len(open_section(kind, note)) + len(close_section(kind)) + len(DIVIDER)


DIVIDER = "\n---\n"
"""Between sections, where a pack is delivered inline."""
