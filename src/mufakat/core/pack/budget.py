"""How a budget is shared: weighted water-filling over what each section has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush

WEIGHT_UNITS = 1000
"""Weights are compared in thousandths, so that shares are exact whole numbers."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one section asks for; sizes in characters."""

    kind: str
    need: int
    weight: float = 1.0
    floor: int = 0
    ceiling: int | None = None
    """None: no upper limit."""
    fixed: bool = False
    """Never cut: gets its whole need or the pack is impossible."""
    guarantee: int = 0
    """The part of the need that may not be cut."""
    takes_rest: bool = False
    """Gets what nobody else could use, up to its need."""

    @property
    def most(self) -> int:
        """What it could use at all."""
        return self.need if self.ceiling is None else min(self.need, self.ceiling)


@dataclass(frozen=True, slots=True)
class Impossible:
    """The parts that may not be cut do not fit."""

    budget: int
    needed: int
    sizes: tuple[tuple[str, int], ...]
    """Largest first."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Characters granted to each section."""

    granted: Mapping[str, int]
    scaled_floors: bool
    """The floors together did not fit and were scaled down."""
    unused: int


def allocate(total: int, claims: Sequence[Claim]) -> Allocation | Impossible:
    """Share `total` characters among sections; the order of `claims` changes nothing.

    Fixed parts and guarantees come first, then floors, then the rest by weight until every
    section has what it can use; what is left goes to the sections that take the rest.
    """
    claims = sorted(claims, key=lambda claim: claim.kind)
    granted = {claim.kind: reserved(claim) for claim in claims}
    left = total - sum(granted.values())
    if left < 0:
        sizes = sorted(granted.items(), key=lambda pair: (-pair[1], pair[0]))
        return Impossible(total, total - left, tuple(pair for pair in sizes if pair[1]))
    shared = [claim for claim in claims if not claim.fixed]
    floors, scaled = _floors(shared, granted, left)
    left = _give(floors, granted, left)
    left = _give(_pour(shared, granted, left), granted, left)
    for claim in shared:
        if claim.takes_rest:
            extra = min(left, max(0, claim.need - granted[claim.kind]))
            left = _give({claim.kind: extra}, granted, left)
    return Allocation(granted, scaled, left)


def reserved(claim: Claim) -> int:
    """What a claim gets before anything is shared."""
    return claim.need if claim.fixed else min(claim.guarantee, claim.need)


def _give(shares: Mapping[str, int], granted: dict[str, int], left: int) -> int:
    """Add `shares` to what is granted; answers what is left."""
    for kind, share in shares.items():
        granted[kind] += share
    return left - sum(shares.values())


def _floors(
    claims: Sequence[Claim], granted: Mapping[str, int], left: int
) -> tuple[dict[str, int], bool]:
    """What lifts every claim to its floor, scaled down together where it does not fit."""
    wants = {
        claim.kind: max(0, min(claim.floor, claim.most) - granted[claim.kind]) for claim in claims
    }
    total = sum(wants.values())
    if total <= left:
        return wants, False
    return {kind: want * left // total for kind, want in wants.items()}, True


def _pour(claims: Sequence[Claim], granted: Mapping[str, int], left: int) -> dict[str, int]:
    """Share `left` by weight; a claim that is full leaves its share to the others."""
    weights = {claim.kind: max(1, round(claim.weight * WEIGHT_UNITS)) for claim in claims}
    rooms = {claim.kind: max(0, claim.most - granted[claim.kind]) for claim in claims}
    shares = dict.fromkeys(rooms, 0)
    thirsty = [kind for kind, room in rooms.items() if room]
    while thirsty:
        weight = sum(weights[kind] for kind in thirsty)
        full = [kind for kind in thirsty if rooms[kind] * weight <= left * weights[kind]]
        if not full:
            parts = {kind: left * weights[kind] // weight for kind in thirsty}
            return shares | _last(parts, weights, rooms, left=left - sum(parts.values()))
        for kind in full:
            shares[kind] = rooms[kind]
            left -= rooms[kind]
        thirsty = [kind for kind in thirsty if not shares[kind]]
    return shares


def _last(
    parts: Mapping[str, int],
    weights: Mapping[str, int],
    rooms: Mapping[str, int],
    *,
    left: int,
) -> dict[str, int]:
    """Give out the single characters that division left over, one by one.

    Each goes to whoever would then have least for its weight (the divisor method of D'Hondt),
    because with any other order a section could lose a character by getting more weight.
    """
    shares = dict(parts)
    queue = [(Fraction(part + 1, weights[kind]), kind) for kind, part in parts.items()]
    heapify(queue)
    for _ in range(left):
        _, kind = heappop(queue)
        shares[kind] += 1
        if shares[kind] < rooms[kind]:
            heappush(queue, (Fraction(shares[kind] + 1, weights[kind]), kind))
    return shares
