"""Filling sections: each gets the best text that its grant has room for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.core import quote
from mufakat.core.pack import history, resolution
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.history import Window
from mufakat.core.pack.item import Item
from mufakat.core.pack.resolution import Piece
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import table
from mufakat.core.pack.utterance import Said


@dataclass(frozen=True, slots=True)
class Wanted:
    """A section with all it has to say; `need` in characters, marks included."""

    section: Section
    items: Sequence[Item]
    need: int


@dataclass(frozen=True, slots=True)
class Filled:
    """A section as it goes into the pack."""

    kind: str
    tier: int
    need: int
    granted: int
    pieces: tuple[Piece, ...]
    dropped: int
    why: str
    text: str = ""
    """With its marks; empty when it says nothing."""

    @property
    def used(self) -> int:
        """Characters that it costs, the divider after it included."""
        return len(self.text) + len(quote.DIVIDER) if self.text else 0


def fill(
    wanted: Sequence[Wanted],
    facts: Facts,
    newest: Sequence[Said],
    granted: Mapping[str, int],
    *,
    total: int,
) -> tuple[list[Filled], int]:
    """Fill all sections; answers them in order, and the first message of the window.

    `earlier` comes last of all: it gets what the others left of `total`.
    """
    filled: list[Filled] = []
    window: Window | None = None
    for one in wanted:
        room = granted[one.section.kind] - quote.frame_chars(one.section.kind)
        if one.section.kind == table.HISTORY and one.need:
            window = history.choose(facts.history, newest, room)
            filled.append(_windowed(one, window, granted[one.section.kind]))
        else:
            filled.append(_chosen(one, room, granted[one.section.kind]))
    if window is None:
        return filled, facts.history.window_start
    left = total - len(facts.prompt) - sum(one.used for one in filled)
    filled = [
        _earlier(one, facts, newest, window, left=left) if one.kind == table.EARLIER else one
        for one in filled
    ]
    return _without_earlier(filled), window.start


def _without_earlier(filled: Sequence[Filled]) -> list[Filled]:
    """Count a message that `earlier` tells as told, not as dropped by the history."""
    told = sum(len(one.pieces) for one in filled if one.kind == table.EARLIER)
    return [
        dataclasses.replace(one, dropped=one.dropped - told) if one.kind == table.HISTORY else one
        for one in filled
    ]


def framed(kind: str, body: str) -> str:
    """A section's text between its marks."""
    return quote.open_section(kind) + body + quote.close_section(kind) if body else ""


def _chosen(one: Wanted, room: int, granted: int) -> Filled:
    section = one.section
    if not one.items:
        return Filled(section.kind, section.tier, one.need, granted, (), 0, "nothing to say")
    chosen = resolution.choose(one.items, max(0, room))
    body = resolution.SEPARATOR.join(piece.text for piece in chosen.pieces)
    return Filled(
        section.kind,
        section.tier,
        one.need,
        granted,
        chosen.pieces,
        chosen.dropped,
        chosen.why,
        framed(section.kind, body),
    )


def _windowed(one: Wanted, window: Window, granted: int) -> Filled:
    section = one.section
    return Filled(
        section.kind,
        section.tier,
        one.need,
        granted,
        tuple(Piece(said.told, said.text) for said in window.said),
        window.dropped,
        window.why,
        framed(section.kind, window.text.rstrip("\n")),
    )


def _earlier(
    one: Filled, facts: Facts, newest: Sequence[Said], window: Window, *, left: int
) -> Filled:
    """Give the room that nobody used to the messages just before the window."""
    room = left - quote.frame_chars(one.kind)
    shown = frozenset(said.number for said in window.said if said.number < window.start)
    said = history.earlier(facts.history, newest, start=window.start, shown=shown, room=room)
    if not said:
        return one
    pieces = tuple(Piece(each.told, each.text) for each in said)
    body = "".join(each.text for each in said).rstrip("\n")
    why = "the room that the window's step leaves"
    return Filled(one.kind, one.tier, left, left, pieces, 0, why, framed(one.kind, body))
