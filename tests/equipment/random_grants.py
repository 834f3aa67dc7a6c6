"""Leases that are granted and ended at random, and the fences that each resource was given."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from equipment import coordination_records as make
from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Cause, Lease
from mufakat.ports.store import Transaction

RESOURCES = frozenset(f"task:{n}" for n in range(8))
NextFence = Callable[[Transaction, str], int]


def counted(tx: Transaction, resource: str) -> int:
    """The store's own count."""
    return tx.leases.next_fence(resource)


def from_what_is_live(tx: Transaction, resource: str) -> int:
    """A count with a fault: it forgets leases that have ended."""
    tx.leases.next_fence(resource)
    live = [x.fence(resource) for x in tx.leases.live() if resource in x.wanted.resources]
    return max(live, default=1 << 40) + 1


@dataclass
class Grants:
    """One run; the same seed makes the same run."""

    seed: int
    next_fence: NextFence = counted
    given: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        print("seed", self.seed)
        self._dice = random.Random(self.seed)

    def some(self, tx: Transaction) -> None:
        """A step of the store: fifty grants or ends."""
        for _ in range(50):
            self._one(tx)

    def only_rise(self) -> None:
        """The check itself."""
        assert set(self.given) == RESOURCES
        for resource, fences in self.given.items():
            pairs = zip(fences, fences[1:], strict=False)
            assert all(before < after for before, after in pairs), resource

    def _one(self, tx: Transaction) -> None:
        dice, live = self._dice, list(tx.leases.live())
        free = sorted(RESOURCES.difference(*(lease.wanted.resources for lease in live)))
        if live and (not free or dice.random() < 0.4):
            cause = dice.choice([Cause.RELEASED, Cause.EXPIRED, Cause.CRASHED])
            tx.leases.keep(replace(dice.choice(live), ended=tx.now(), cause=cause))
            return
        wanted = make.wanted(*dice.sample(free, dice.randrange(1, min(3, len(free)) + 1)))
        fences = tuple(self.next_fence(tx, resource) for resource in wanted.resources)
        id = f"l_{dice.randrange(1 << 60):016x}"
        tx.leases.keep(Lease(id, wanted, fences, tx.now(), Millis(tx.now() + wanted.ttl)))
        for resource, fence in zip(wanted.resources, fences, strict=True):
            self.given.setdefault(resource, []).append(fence)
