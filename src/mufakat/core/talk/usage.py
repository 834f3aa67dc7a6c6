"""What a turn cost: tokens in four buckets that never overlap, and money where it is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST = 2**53
"""Tokens in a bucket at most: more is no count, and no database column holds it."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn (or of a session so far); `cost` in US dollars, None where unknown."""

    fresh: int = 0
    """Input tokens that were neither read from nor written to a cache."""
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    """Includes reasoning tokens."""
    cost: float | None = None

    @property
    def total(self) -> int:
        return self.fresh + self.cache_read + self.cache_write + self.output


def plus(one: Usage, other: Usage) -> Usage:
    """Add two usages up; a cost is known when either is."""
    costs = [part.cost for part in (one, other) if part.cost is not None]
    return Usage(
        one.fresh + other.fresh,
        one.cache_read + other.cache_read,
        one.cache_write + other.cache_write,
        one.output + other.output,
        sum(costs) if costs else None,
    )


def bounded(claimed: Usage) -> Usage:
    """What can be stored of an engine's claim; a cost that is no amount of money is unknown."""
    cost = claimed.cost
    return Usage(
        _bounded(claimed.fresh),
        _bounded(claimed.cache_read),
        _bounded(claimed.cache_write),
        _bounded(claimed.output),
        cost if cost is not None and math.isfinite(cost) and cost >= 0 else None,
    )


def _bounded(tokens: int) -> int:
    return min(max(0, tokens), LARGEST)


def since(earlier: Usage, now: Usage) -> Usage:
    """The part of a running total that came after `earlier`; a counter that fell starts anew."""
    if now.total < earlier.total:
        return now
    cost = now.cost
    if cost is not None and earlier.cost is not None and cost >= earlier.cost:
        cost -= earlier.cost
    return Usage(
        max(0, now.fresh - earlier.fresh),
        max(0, now.cache_read - earlier.cache_read),
        max(0, now.cache_write - earlier.cache_write),
        max(0, now.output - earlier.output),
        cost,
    )
