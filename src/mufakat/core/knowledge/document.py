"""Documents: how a text falls into sections, and what a note on one is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mufakat.core import text
from mufakat.core.base import Millis, ProjectId

SECTION_CHARS = 2_400
"""A longer section is searched, and given out, in parts."""
MOST_SECTIONS = 1_500
NOTE_CHARS = 4_000
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)\Z")
_RULE = re.compile(r"([=\-~^\"'`*+#])\1{2,}[ \t]*\Z")
_FENCE = re.compile(r" {0,3}(```|~~~)")
PATH = " › "


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under its heading."""

    heading: str
    """Path of headings, outermost first."""
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be read up."""

    name: str
    """`fastapi`, `docs/http.md`, `acme/widgets`."""
    description: str
    source: str
    """`hub`, `project` or `package`."""
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """What an agent or a person found out about a document, for whoever reads it next."""

    id: str
    project: ProjectId
    document: str
    author: str
    at: Millis
    text: str


def sections(body: str) -> tuple[Section, ...]:
    """Split Markdown or reStructuredText at its headings; code blocks are never split there."""
    found = [
        Section(part.heading, piece) for part in _by_heading(body) for piece in parts(part.text)
    ]
    return tuple(found[:MOST_SECTIONS])


def _by_heading(body: str) -> Iterator[Section]:
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    for level, heading, line in _marked(body):
        if not level:
            lines.append(line)
            continue
        if "".join(lines).strip():
            yield Section(PATH.join(name for _, name in path), "\n".join(lines).strip())
        lines = []
        path = [*(one for one in path if one[0] < level), (level, heading)]
    if "".join(lines).strip():
        yield Section(PATH.join(name for _, name in path), "\n".join(lines).strip())


def _marked(body: str) -> Iterator[tuple[int, str, str]]:
    """Every line with the level of the heading that it is; 0 for a line of text."""
    ranks: list[str] = []
    fence = ""
    lines = body.replace("\r\n", "\n").split("\n")
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        if heading:
            # The closing signs are no part of it; a pattern that leaves them out reads a line of
            # nothing else again from every one of them.
            title = heading[2].rstrip(" \t#") or heading[2][0]
            yield len(heading[1]), text.one_line(title, 120), line
        elif not fence and _underlined(lines, at):
            rule = lines[at + 1].strip()[0]
            ranks += [] if rule in ranks else [rule]
            yield 1 + ranks.index(rule), text.one_line(line, 120), line
        elif fence or not (at and _RULE.fullmatch(line.strip()) and _underlined(lines, at - 1)):
            yield 0, "", line


def _underlined(lines: list[str], at: int) -> bool:
    title = lines[at].strip()
    if not title or at + 1 >= len(lines) or title.startswith(("|", "-", "*", ">")):
        return False
    rule = lines[at + 1].strip()
    return bool(_RULE.fullmatch(rule)) and len(rule) >= len(title) and not _RULE.fullmatch(title)


def parts(body: str) -> list[str]:
    """A text in pieces of at most `SECTION_CHARS`, cut between paragraphs where it can be."""
    pieces: list[str] = []
    rest = body.strip()
    while len(rest) > SECTION_CHARS:
        at = rest.rfind("\n\n", SECTION_CHARS // 2, SECTION_CHARS)
        at = at if at > 0 else rest.rfind("\n", SECTION_CHARS // 2, SECTION_CHARS)
        at = at if at > 0 else max(1, text.boundary(rest, SECTION_CHARS))
        pieces.append(rest[:at].strip())
        rest = rest[at:].strip()
    return [piece for piece in [*pieces, rest] if piece]
