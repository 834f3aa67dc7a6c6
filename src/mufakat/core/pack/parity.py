"""Parity: the same request tells every engine the same items."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from mufakat.core.pack import item
from mufakat.core.pack.fill import Filled
from mufakat.core.pack.item import Resolution, Told

IDENTITY = "identity"
NONCE = "nonce"
"""Of no item: what a session knows beside its items."""
NOTHING = (-1, 0)
_RANK = {resolution: rank for rank, resolution in enumerate(reversed(Resolution))}


def fingerprint(
    sections: Sequence[Filled], prompt: str, *, identity: str, fence: str, nonce: str = ""
) -> str:
    """SHA-256 over the multiset of (section, item id, item bytes), hex.

    The agent's own name in its identity section, the conversation's fence and the run's nonce
    are left out, so that the same request has the same fingerprint for every engine.
    """
    lines = [f"prompt\0prompt\0{item.digest(prompt)}"]
    for section in sections:
        for piece in section.pieces:
            text = piece.text.replace(fence, "")
            if nonce:
                text = text.replace(nonce, "")
            if section.kind == IDENTITY:
                text = text.replace(identity, "")
            lines.append(f"{section.kind}\0{piece.told.id}\0{item.digest(text)}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def key(told: Told) -> str:
    """How a session remembers that it was told an item in this form."""
    rank, chars = _measure(told)
    return f"{told.id}/{told.digest[:24]}/{rank}.{chars}"


def subject(key: str) -> str:
    """The item that a key is about."""
    return key.rsplit("/", 2)[0]


def is_message(id: str) -> bool:
    """Whether an item never changes; all others are told again when they do."""
    return id.startswith("m:")


def known(told: Told, session: frozenset[str], *, ids: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a session knows an item at least this well.

    `ids` maps immutable items (messages) to the most of them that was told: a message told
    whole needs no second telling when a later pack shortens it.
    """
    return key(told) in session or ids.get(told.id, NOTHING) >= _measure(told)


def message_ranks(session: frozenset[str]) -> dict[str, tuple[int, int]]:
    """The most of each message that was told: rank of its resolution, then characters."""
    ranks: dict[str, tuple[int, int]] = {}
    for entry in session:
        if is_message(entry):
            id, _, measure = entry.split("/")
            rank, _, chars = measure.partition(".")
            ranks[id] = max(ranks.get(id, NOTHING), (int(rank), int(chars or 0)))
    return ranks


def nonce_key(nonce: str) -> str:
    """How a session remembers by which nonce its requests are known."""
    return f"{NONCE}/{nonce}/0.0"


def nonce_of(session: frozenset[str]) -> str:
    """The nonce that a session was told; empty where it knows none."""
    known = sorted(key for key in session if key.startswith(f"{NONCE}/"))
    return known[-1].split("/")[1] if known else ""


def said_itself(number: int) -> str:
    """The key of a message that a session knows whole because it received or wrote it."""
    return f"m:{number}/self/{_RANK[Resolution.FULL]}.0"


def _measure(told: Told) -> tuple[int, int]:
    """How much of an item is told; two trimmed forms differ by their characters alone."""
    whole = told.resolution is Resolution.FULL
    return _RANK[told.resolution], 0 if whole else told.chars
