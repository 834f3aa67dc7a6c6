"""A file of code in pieces that can be told alone: cut before definitions, named by their scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import code_definitions
from mufakat.core.knowledge.code_definitions import Definition

LARGEST = 40
"""Lines of a piece."""
SMALLEST = 12
"""A piece that is shorter grows on over the next definition."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a file that belong together."""

    start: int
    """First line, from 0."""
    end: int
    """Behind the last one."""
    symbol: str
    """Full name of the definition that it begins with, or lies in."""
    names: tuple[str, ...]
    """What it defines, or adds to."""
    own: tuple[str, ...]
    """What it defines itself."""


def cut(text: str, lines: Sequence[str], ending: str) -> list[Piece]:
    """Cut a file, whole and in its lines, into pieces that cover it."""
    definitions = list(code_definitions.find(text, ending))
    full = code_definitions.scopes(definitions)
    starts = {one.line: one for one in definitions}
    edges = _edges(lines, starts)
    pieces: list[Piece] = []
    at, symbol = 0, ""
    for start, end in zip(edges, [*edges[1:], len(lines)], strict=True):
        names: list[str] = []
        own: list[str] = []
        first = ""
        while at < len(definitions) and definitions[at].line < end:
            names.append(definitions[at].name)
            if not definitions[at].extends:
                own.append(definitions[at].name)
            first = first or full[at]
            symbol, at = full[at], at + 1
        pieces.append(
            Piece(start, end, first or symbol_before(pieces, symbol), tuple(names), tuple(own))
        )
    return pieces


def symbol_before(pieces: Sequence[Piece], symbol: str) -> str:
    """What a piece without a definition lies in: the last one before it."""
    return symbol if pieces else ""


def _edges(lines: Sequence[str], starts: dict[int, Definition]) -> list[int]:
    """Where pieces begin: before definitions once a piece is long enough, else where it is full."""
    edges, begun = [0] if lines else [], 0
    for number in range(1, len(lines)):
        length = number - begun
        if length >= LARGEST or (length >= SMALLEST and number in starts):
            begun = _lead(lines, number, begun) if number in starts else number
            edges.append(begun)
    return edges


def _lead(lines: Sequence[str], number: int, begun: int) -> int:
    """Up over the comments and decorators that belong to a definition."""
    at = number
    while at - 1 > begun and number - at < 12 and lines[at - 1].lstrip()[:1] in {*"@/*#-;"}:
        at -= 1
    return at
