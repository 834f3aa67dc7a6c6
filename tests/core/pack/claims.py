"""Claims for the allocator's properties, and a program that prints allocations of many of them."""

from __future__ import annotations

import random
import sys

from mufakat.core.pack import budget
from mufakat.core.pack.budget import Claim

WEIGHTS = (0.3, 0.6, 0.8, 1.0, 1.2, 2.0, 3.0)
KINDS = tuple("abcdefghijklmnopqrst")


def size(chance: random.Random) -> int:
    """Mostly small numbers, because rounding shows itself there."""
    return chance.randrange(chance.choice((3, 40, 6_000, 60_000)))


def one(kind: str, chance: random.Random) -> Claim:
    """A claim of any shape that a section could make, and some that none would."""
    return Claim(
        kind,
        size(chance),
        weight=chance.choice((*WEIGHTS, chance.uniform(0.001, 100))),
        floor=chance.choice((0, size(chance))),
        ceiling=chance.choice((None, size(chance))),
        fixed=chance.random() < 0.2,
        guarantee=chance.choice((0, 0, size(chance) // 30)),
        takes_rest=chance.random() < 0.1,
    )


def case(seed: int) -> tuple[int, list[Claim]]:
    """A total and up to twenty claims in any order."""
    chance = random.Random(seed)
    kinds = chance.sample(KINDS, chance.choice((1, 2, 3, 6, 20)))
    claims = [one(kind, chance) for kind in kinds]
    enough = sum(claim.need for claim in claims)
    return chance.choice((size(chance), enough // 2, enough, enough + size(chance))), claims


def main() -> None:
    """Print two hundred allocations whose claims are iterated from a set."""
    for seed in range(200):
        total, claims = case(seed)
        print(budget.allocate(total, list(set(claims))))


if __name__ == "__main__":
    sys.exit(main())
