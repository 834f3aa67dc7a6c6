"""What a source file defines, uses and imports; read by patterns where there is no parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mufakat.core.knowledge import outline_patterns as patterns

MOST_USES = 5_000
LONGEST_LINE = 1_000
"""Characters; what is longer is generated."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name at a place; `scope` is the definition around it, `Class.method`."""

    name: str
    line: int
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """A file as the graph sees it."""

    definitions: tuple[Symbol, ...] = ()
    uses: tuple[Symbol, ...] = ()
    """Each name once a scope, where it is first used."""
    imports: tuple[Symbol, ...] = ()
    """As they are written."""


_SPACE = re.compile(r"[ \t]*")
_USED = re.compile(r"[A-Za-z_$][\w$]{2,}")
_COMMENT = re.compile(r"(?://|#(?!\s*(?:include|define|import))|--\s|\*\s|/\*|;;)")


def read(text: str, language: str) -> Outline:
    """The outline of a text, by its lines and their indentation."""
    defines = re.compile(patterns.DEFINITIONS[language])
    imports = re.compile(patterns.IMPORTS[language])
    found: list[Symbol] = []
    used: dict[tuple[str, str], int] = {}
    wanted: list[Symbol] = []
    around: list[tuple[int, str]] = []
    for number, line, depth in _lines(text):
        while around and around[-1][0] >= depth and not line.startswith(("}", ")", "end", "]")):
            around.pop()
        scope = ".".join(name for _, name in around[-3:])
        if imported := imports.match(line):
            wanted.append(Symbol(next(g for g in imported.groups() if g), number))
        defined = defines.match(line)
        name = next((g for g in defined.groups() if g), "") if defined else ""
        if name and name not in patterns.KEYWORDS:
            found.append(Symbol(name, number, scope))
            around.append((depth, name))
            scope = f"{scope}.{name}".strip(".")
        for word in _USED.findall(line):
            if word != name and word not in patterns.KEYWORDS and len(used) < MOST_USES:
                used.setdefault((word, scope), number)
    uses = tuple(Symbol(word, line, scope) for (word, scope), line in used.items())
    return Outline(tuple(found), uses, tuple(wanted))


def _lines(text: str) -> Iterator[tuple[int, str, int]]:
    """Lines that are code: number, text without indentation, and how deep it stands."""
    for number, line in enumerate(text.split("\n"), 1):
        space = _SPACE.match(line)
        depth = len(space[0].expandtabs(4)) if space else 0
        bare = line.strip()[:LONGEST_LINE]
        if bare and not _COMMENT.match(bare):
            yield number, bare, depth
