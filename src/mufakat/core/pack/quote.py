"""Quoting: a text from elsewhere becomes data under a header that it cannot forge."""

from __future__ import annotations

import re

from mufakat.core import text

LONG = 4_000
"""Characters; a longer text is first reduced to its two ends, so that none empties the window."""
DIGEST_CHARS = 240
_BLOCK = re.compile(r"<mufakat:([a-z-]{1,32})(?: [^>\n]{0,200})?>.*?</mufakat:\1>", re.DOTALL)
_MARK = re.compile(r"<(/?)mufakat:", re.IGNORECASE)
LEFT_OUT = "[pack text left out]"


def inert(body: str, fence: str) -> str:
    """Take from a text all that could pass for the pack's own marks.

    Sections of an earlier pack that were quoted are left out: they are told afresh anyway.
    """
    body = text.clean(body)
    if "mufakat:" in body.lower():
        body = _BLOCK.sub(LEFT_OUT, body)
        body = _MARK.sub(r"‹\1mufakat:", body)
    if fence and fence in body:
        body = body.replace(fence, "[fence]")
    return body


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
