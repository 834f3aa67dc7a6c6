"""Parity: the same request tells every engine the same items."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from mufakat.core.pack import item
from mufakat.core.pack.fill import Filled
from mufakat.core.pack.item import Resolution, Told

IDENTITY = "identity"
_RANK = {resolution: rank for rank, resolution in enumerate(reversed(Resolution))}


def fingerprint(sections: Sequence[Filled], prompt: str, *, identity: str, fence: str) -> str:
    """SHA-256 over the multiset of (section, item id, item bytes), hex.

    The agent's own name in its identity section and the conversation's fence are left out, so
    that the same request has the same fingerprint for every engine.
    """
    lines = [f"prompt\0prompt\0{item.digest(prompt)}"]
    for section in sections:
        for piece in section.pieces:
            text = piece.text.replace(fence, "")
            if section.kind == IDENTITY:
                text = text.replace(identity, "")
            lines.append(f"{section.kind}\0{piece.told.id}\0{item.digest(text)}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def key(told: Told) -> str:
    """How a session remembers that it was told an item in this form."""
    return f"{told.id}/{told.digest[:24]}/{_RANK[told.resolution]}"


def known(told: Told, session: frozenset[str], *, ids: dict[str, int]) -> bool:
    """Whether a session knows an item at least this well.

    `ids` maps immutable items (messages) to the best rank they were told at: a message told
    whole needs no second telling when a later pack shortens it.
    """
    return key(told) in session or ids.get(told.id, -1) >= _RANK[told.resolution]


def message_ranks(session: frozenset[str]) -> dict[str, int]:
    """The best rank at which each message was told."""
    ranks: dict[str, int] = {}
    for entry in session:
        if entry.startswith("m:"):
            id, _, rank = entry.split("/")
            ranks[id] = max(ranks.get(id, -1), int(rank))
    return ranks


def said_itself(number: int) -> str:
    """The key of a message that a session knows whole because it received or wrote it."""
    return f"m:{number}/self/{_RANK[Resolution.FULL]}"
