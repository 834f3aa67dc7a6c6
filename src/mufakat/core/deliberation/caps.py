"""Caps: what a roundtable may cost at most, in characters, tokens, money and time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mufakat.core.base import InvalidInput

CHARS = 600_000
SECONDS = 3_600
"""Where nobody says otherwise, so that no table is without an end."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that a table may use; None for no cap."""

    chars: int | None = CHARS
    """Sent to engines."""
    tokens: int | None = None
    """In and out, as the engines count them."""
    cost: float | None = None
    """US dollars, of the engines that say what they cost."""
    seconds: float | None = SECONDS
    """While it runs; a paused table's time stands still."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used so far, or would be."""

    chars: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0


def check(caps: Caps) -> None:
    """Raise InvalidInput for a cap that permits nothing."""
    for name in ("chars", "tokens", "cost", "seconds"):
        value = getattr(caps, name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise InvalidInput(
                f"A cap of {value:g} {name} permits nothing.",
                fix="Give more than 0, or leave it out.",
            )


def plus(one: Spent, other: Spent) -> Spent:
    """Add up; a cost is known when either is."""
    costs = [part.cost for part in (one, other) if part.cost is not None]
    return Spent(
        one.chars + other.chars,
        one.tokens + other.tokens,
        sum(costs) if costs else None,
        one.seconds + other.seconds,
    )


def exceeded(caps: Caps, spent: Spent) -> str:
    """Which cap is passed, in words; empty while none is."""
    for name, most, used in (
        ("characters", caps.chars, spent.chars),
        ("tokens", caps.tokens, spent.tokens),
        ("dollars", caps.cost, spent.cost or 0),
        ("seconds", caps.seconds, spent.seconds),
    ):
        if most is not None and used > most:
            return f"the cap of {most:,g} {name} is reached ({used:,.6g})"
    return ""


def reached(caps: Caps, spent: Spent) -> str:
    """Which cap leaves no room for one more turn; empty while all do."""
    least = plus(spent, Spent(chars=1, tokens=1, seconds=0.001))
    spent_all = caps.cost is not None and spent.cost is not None and spent.cost >= caps.cost
    if spent_all:
        return f"the cap of {caps.cost:,g} dollars is reached ({spent.cost:,.6g})"
    return exceeded(caps, least)
