"""Whether a concurrent history is one that a sequential object could have had (Wing and Gong).

Operations are taken one by one in every order that their times allow; a place that was seen before,
the same operations taken and the same states possible, is not looked at again (Lowe).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

STEPS = 2_000_000
S = TypeVar("S", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call: what was asked, what came of it, and between which monotonic times it happened."""

    client: int
    call: float
    back: float
    """Infinite where no answer came: it may have had its effect at any time, or never."""
    what: str
    given: Any = None
    result: Any = None

    @property
    def open(self) -> bool:
        return math.isinf(self.back)


class Undecided(Exception):
    """There are too many orders to look at."""


@dataclass(frozen=True, slots=True)
class Checker(Generic[S]):
    """What the object begins with, and how it may go on.

    `step` answers every state after an operation that takes effect between two times; none where
    what came of it is impossible.
    """

    begin: S
    step: Callable[[S, Operation, float, float], Sequence[S]]
    steps: int = STEPS

    def linearizable(self, history: Sequence[Operation]) -> bool:
        """Raises Undecided after so many steps."""
        ordered = sorted(history, key=lambda one: one.call)
        return _Search(self, ordered).run()


class _Search(Generic[S]):
    def __init__(self, checker: Checker[S], history: Sequence[Operation]) -> None:
        self.checker = checker
        self.history = history
        self.answered = sum(1 << n for n, one in enumerate(history) if not one.open)
        self.seen: set[tuple[int, frozenset[S]]] = set()

    def run(self) -> bool:
        stack = [(0, frozenset([self.checker.begin]), -math.inf)]
        steps = 0
        while stack:
            done, states, since = stack.pop()
            if done & self.answered == self.answered:
                return True
            for n, low, high in self._next(done, since):
                steps += 1
                if steps > self.checker.steps:
                    raise Undecided(f"{len(self.history)} operations")
                after = self._after(states, self.history[n], low, high)
                place = (done | 1 << n, after)
                if after and place not in self.seen:
                    self.seen.add(place)
                    stack.append((*place, low))
        return False

    def _next(self, done: int, since: float) -> list[tuple[int, float, float]]:
        """What may come next, and between which times; the likeliest last, to be tried first."""
        waiting = []
        high = math.inf
        first = (~done & (done + 1)).bit_length() - 1
        for n in range(first, len(self.history)):
            one = self.history[n]
            if one.call > high:
                break
            if not done >> n & 1:
                waiting.append((n, one))
                high = min(high, one.back)
        found = [(n, max(since, one.call), high) for n, one in waiting if one.call <= high]
        return sorted(found, key=lambda one: -self.history[one[0]].back)

    def _after(
        self, states: frozenset[S], operation: Operation, low: float, high: float
    ) -> frozenset[S]:
        return frozenset(
            after for state in states for after in self.checker.step(state, operation, low, high)
        )
