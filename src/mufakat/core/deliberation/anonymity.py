"""Anonymity: peers are told as letters, so that a claim is weighed and not its maker."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mufakat.core.deliberation.seat import Seat

_SELF = r"(?P<lead>\b(?:I am|I'm|I’m|As|This is|Here is|saya|Saya)\s+(?:an?\s+|the\s+)?)"


def name(seat: Seat, *, anonymous: bool) -> str:
    """How a seat is called by the others."""
    return f"Seat {seat.label}" if anonymous else f"Seat {seat.label} ({seat.identity})"


def disguise(words: str, seats: Sequence[Seat]) -> str:
    """A text without what gives a seat away: whole identities, and introductions by name.

    A maker's name in any other place may be the subject and stays.
    """
    for seat in seats:
        shown = f"Seat {seat.label}"
        words = words.replace(seat.identity, shown)
        names = {seat.engine, seat.vendor, *filter(None, (seat.model,))}
        pattern = "|".join(re.escape(one) for one in sorted(names, key=len, reverse=True))
        words = re.sub(rf"{_SELF}(?:{pattern})\b", rf"\g<lead>{shown}", words, flags=re.IGNORECASE)
    return words
