"""Prints results: calm and aligned for people, exact JSON for programs."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

from mufakat.cli.session import Session
from mufakat.core.terminal_text import clean

INDIGO, TEAL, AMBER, GREY = (99, 102, 241), (20, 184, 166), (245, 158, 11), (128, 128, 128)
TIERS = (INDIGO, TEAL, AMBER)
_RISKY = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

Colour = tuple[int, int, int]


def json_line(data: Any) -> str:
    """One line of JSON; what a terminal would obey is escaped, nothing else is changed."""
    return _escape(json.dumps(data, ensure_ascii=False))


def json_text(data: Any) -> str:
    """Indented JSON, safe for a terminal too."""
    return _escape(json.dumps(data, ensure_ascii=False, indent=2))


def _escape(text: str) -> str:
    return _RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def paint(session: Session, text: str, colour: Colour) -> str:
    """Colour a text where the terminal takes it."""
    return click.style(text, fg=colour) if text and session.colour else text


def dim(session: Session, text: str) -> str:
    """Put a text into the background where the terminal takes it."""
    return click.style(text, dim=True) if text and session.colour else text


def line(text: object) -> str:
    """A foreign text on one line, safe for a terminal."""
    return " ".join(clean(str(text)).split())


def pairs(rows: Iterable[tuple[object, object]]) -> str:
    """Names and values, one a line, aligned."""
    cleaned = [(line(name), line(value)) for name, value in rows]
    widest = max((width(name) for name, _ in cleaned), default=0)
    return "\n".join(f"{name}{' ' * (widest - width(name))}  {value}" for name, value in cleaned)


def number(value: object) -> str:
    """A count with thousands marked; a dash where there is none."""
    return f"{value:,}" if isinstance(value, int) else "–"


def moment(text: object, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time of the server in the person's own zone."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(text)).astimezone().strftime(form)
    except ValueError:
        return line(text)


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def fit(text: str, columns: int) -> str:
    """Cut a text to so many columns."""
    if width(text) <= columns:
        return text
    left, end = columns - 1, 0
    for char in text:
        left -= width(char)
        if left < 0:
            break
        end += 1
    return text[:end] + "…" if columns > 0 else ""


def columns() -> int:
    """Width of the terminal; no limit where there is none."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100_000


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> str:
    """Align rows; the last column takes what is left of the line.

    `right` names the columns, by letter a, b, c …, that stand to the right.
    """
    sizes = [max([width(h), *(width(row[i]) for row in rows)]) for i, h in enumerate(head)]
    sizes[-1] = max(12, min(sizes[-1], columns() - sum(sizes[:-1]) - 2 * (len(sizes) - 1)))
    to_right = {"abcdefghijkl".index(letter) for letter in right}
    lines = []
    for row in (head, *rows):
        cells = [fit(cell, sizes[i]) for i, cell in enumerate(row)]
        padded = [
            (" " * (sizes[i] - width(cell)) + cell)
            if i in to_right
            else (cell + " " * (sizes[i] - width(cell)))
            for i, cell in enumerate(cells)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
