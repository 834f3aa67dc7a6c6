"""The form in which a pack reaches an engine; the information is the same for every one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core import quote, text
from mufakat.core.pack import parity
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.fill import Filled
from mufakat.core.pack.resolution import Piece

NEWS = "new since your last turn"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an engine is handed: the text of its system slot, and the user's text."""

    system: str
    """Empty for engines that take everything inline."""
    user: str
    form: str
    """`split` or `inline`."""
    told: frozenset[str] = frozenset()
    """Keys of all that the session knows after this delivery."""


def fresh(pack: Pack, *, splits_system: bool, expands_at: bool) -> Delivery:
    """Deliver a whole pack to a new session."""
    keys = frozenset(parity.key(piece.told) for s in pack.sections for piece in s.pieces)
    if splits_system:
        return Delivery(pack.text, _inert(pack.prompt, expands_at), "split", keys)
    parts = [*(section.text for section in pack.sections), pack.prompt]
    return Delivery("", _inert(quote.DIVIDER.join(parts), expands_at), "inline", keys)


def resumed(
    pack: Pack, told: frozenset[str], *, system: str, splits_system: bool, expands_at: bool
) -> Delivery:
    """Deliver to a session that goes on: only what it does not know, before the user's text.

    `system` is the text its system slot was given at first; engines silently keep that one.
    """
    ranks = parity.message_ranks(told)
    news: list[str] = []
    keys = _still_told(pack, told)
    for section in pack.sections:
        unknown = [p for p in section.pieces if not parity.known(p.told, told, ids=ranks)]
        if unknown:
            news.append(_delta(section, unknown))
        keys.update(parity.key(piece.told) for piece in section.pieces)
    user = quote.DIVIDER.join([*news, pack.prompt])
    form = "split" if splits_system else "inline"
    return Delivery(
        system if splits_system else "", _inert(user, expands_at), form, frozenset(keys)
    )


def _still_told(pack: Pack, told: frozenset[str]) -> set[str]:
    """What a session knows beside this pack's changing items.

    Of those it knows the newest state alone: one that goes back to an earlier state is news.
    """
    items = {piece.told.id for section in pack.sections for piece in section.pieces}
    changing = {id for id in items if not parity.is_message(id)}
    return {key for key in told if parity.subject(key) not in changing}


def missing(pack: Pack, told: frozenset[str]) -> tuple[str, ...]:
    """Items of a pack that a session was never told; parity holds when there are none."""
    ranks = parity.message_ranks(told)
    return tuple(
        f"{section.kind}/{piece.told.id}"
        for section in pack.sections
        for piece in section.pieces
        if not parity.known(piece.told, told, ids=ranks)
    )


def _delta(section: Filled, pieces: Sequence[Piece]) -> str:
    body = "\n".join(piece.text.rstrip("\n") for piece in pieces)
    return quote.open_section(section.kind, NEWS) + body + quote.close_section(section.kind)


def _inert(body: str, expands_at: bool) -> str:
    return text.neutralise_at(body) if expands_at else body
