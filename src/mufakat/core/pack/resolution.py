"""Degrading by resolution: within a grant, the forms of items that are worth most together."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core import text
from mufakat.core.pack import item
from mufakat.core.pack.item import VALUE, Item, Resolution, Told

SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """An item in the form that was chosen."""

    told: Told
    text: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What of a section's items is told."""

    pieces: tuple[Piece, ...]
    dropped: int
    why: str

    @property
    def chars(self) -> int:
        return sum(len(piece.text) for piece in self.pieces) + len(SEPARATOR) * max(
            0, len(self.pieces) - 1
        )


def forms(
    full: str, *, reference: str, note: str = "… the rest is left out …"
) -> tuple[tuple[Resolution, str], ...]:
    """The four forms of a text; one that would not be shorter than a better one is absent."""
    candidates = (
        (Resolution.FULL, full),
        (Resolution.TRIMMED, text.head_and_tail(full, max(400, len(full) // 2), note=note)),
        (Resolution.DIGEST, text.one_line(full, 200)),
        (Resolution.REFERENCE, reference),
    )
    kept: list[tuple[Resolution, str]] = []
    for resolution, form in candidates:
        if not kept or len(form) < len(kept[-1][1]):
            kept.append((resolution, form))
    return tuple(kept)


def choose(items: Sequence[Item], grant: int) -> Chosen:
    """Choose a form for every item, raising first what gains most value a character.

    Items come in order of their worth; the last ones are dropped when not even their references
    fit.
    """
    if chars_in_full(items) <= grant:
        pieces = tuple(_piece(one, 0) for one in items)
        return Chosen(pieces, 0, _why(pieces, 0))
    levels, used, dropped = _references(items, grant)
    queue: list[tuple[float, int, int]] = []
    for index in levels:
        _offer(queue, items[index], index, levels[index])
    while queue:
        _, index, level = heapq.heappop(queue)
        gain = len(items[index].forms[level][1]) - len(items[index].forms[levels[index]][1])
        if level != levels[index] - 1 or used + gain > grant:
            continue
        levels[index], used = level, used + gain
        _offer(queue, items[index], index, level)
    pieces = tuple(_piece(items[index], levels[index]) for index in sorted(levels))
    return Chosen(pieces, dropped, _why(pieces, dropped))


def chars_in_full(items: Sequence[Item]) -> int:
    """Characters that all items take in their full forms, separators included."""
    return sum(len(one.forms[0][1]) for one in items) + len(SEPARATOR) * max(0, len(items) - 1)


def _references(items: Sequence[Item], grant: int) -> tuple[dict[int, int], int, int]:
    """Start everything at its shortest form; what does not fit is dropped from the end."""
    levels: dict[int, int] = {}
    used = 0
    for index, one in enumerate(items):
        last = len(one.forms) - 1
        cost = len(one.forms[last][1]) + (len(SEPARATOR) if levels else 0)
        if used + cost > grant:
            return levels, used, len(items) - index
        levels[index] = last
        used += cost
    return levels, used, 0


def _offer(queue: list[tuple[float, int, int]], one: Item, index: int, level: int) -> None:
    if level == 0:
        return
    now, better = one.forms[level], one.forms[level - 1]
    gain = (VALUE[better[0]] - VALUE[now[0]]) * one.worth
    heapq.heappush(queue, (-gain / max(1, len(better[1]) - len(now[1])), index, level - 1))


def _piece(one: Item, level: int) -> Piece:
    resolution, form = one.forms[level]
    less = resolution is not Resolution.FULL
    told = Told(
        id=one.id,
        resolution=resolution,
        chars=len(form),
        digest=item.digest(form),
        source=one.source,
        trust=one.trust,
        author=one.author,
        full_chars=len(one.forms[0][1]) if less else 0,
        key=(one.key or one.id) if less else "",
    )
    return Piece(told, form)


def _why(pieces: Sequence[Piece], dropped: int) -> str:
    degraded = sum(piece.told.resolution is not Resolution.FULL for piece in pieces)
    if dropped:
        return f"{dropped} of {dropped + len(pieces)} items did not fit"
    if degraded:
        return f"{degraded} of {len(pieces)} items shortened to fit"
    return "all of it fits"
