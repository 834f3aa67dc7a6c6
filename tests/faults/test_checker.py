"""The checker of lease histories itself: it takes what may happen and refuses what may not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from equipment import lease_history
from equipment.linear import Checker, Operation, Undecided

TTL = 1.0


def acquire(client: int, call: float, back: float, fence: int = 0, **more: Any) -> Operation:
    """Granted under `fence`, or refused where that is 0."""
    result = {"id": f"l{fence}", "fence": fence} if fence else None
    return Operation(client, call, back, "acquire", {"ttl": TTL, **more}, result)


def lost(client: int, call: float) -> Operation:
    return Operation(client, call, math.inf, "acquire", {"ttl": TTL})


def renew(client: int, call: float, back: float, fence: int, *, ok: bool) -> Operation:
    given = {"ttl": TTL, "fence": fence, "id": f"l{fence}"}
    return Operation(client, call, back, "renew", given, ok)


def release(client: int, call: float, back: float, fence: int, *, ok: bool) -> Operation:
    return Operation(client, call, back, "release", {"fence": fence, "id": f"l{fence}"}, ok)


def check(client: int, call: float, back: float, fence: int, holder: int | None) -> Operation:
    result = {"valid": holder == client, "holder": -1 if holder is None else holder}
    return Operation(client, call, back, "check", {"fence": fence}, result)


def start(call: float, back: float) -> Operation:
    return Operation(-9, call, back, "start")


def so(*history: Operation) -> bool:
    return lease_history.checker(history, before=4).linearizable(history)


POSSIBLE = {
    "one after the other": [
        acquire(1, 0, 0.1, 5), acquire(2, 0.2, 0.3), release(1, 0.4, 0.5, 5, ok=True),
        acquire(2, 0.6, 0.7, 6),
    ],
    "overlapping, in the other order": [
        acquire(1, 0, 0.5, 6), acquire(2, 0.1, 0.2, 5), release(2, 0.2, 0.4, 5, ok=True),
    ],
    "over by time": [acquire(1, 0, 0.1, 5), acquire(2, 1.05, 1.2, 6)],
    "the same request again": [acquire(1, 0, 0.1, 5), acquire(1, 0.8, 0.9, 5),
                               acquire(2, 1.7, 1.8)],
    "a call renews": [acquire(1, 0, 0.1, 5), check(1, 0.9, 1.0, 5, 1), acquire(2, 1.7, 1.8)],
    "a lost grant": [lost(1, 0), acquire(2, 0.2, 0.3), acquire(1, 0.4, 0.5, 5)],
    "a lost grant that never was": [lost(1, 0), acquire(2, 0.2, 0.3, 5)],
    "kept over a start": [acquire(1, 0, 0.1, 5), start(0.5, 3), acquire(2, 3.5, 3.6),
                          renew(1, 3.7, 3.8, 5, ok=True)],
    "too late": [acquire(1, 0, 0.1, 5), renew(1, 1.2, 1.3, 5, ok=False),
                 check(1, 1.4, 1.5, 5, None)],
}  # fmt: skip
IMPOSSIBLE = {
    "two holders": [acquire(1, 0, 0.1, 5), acquire(2, 0.2, 0.3, 6)],
    "two at once": [acquire(1, 0, 0.1, 5), acquire(2, 0, 0.1, 6)],
    "refused though free": [acquire(1, 0, 0.1), acquire(2, 0.2, 0.3, 5)],
    "refused though over by time": [acquire(1, 0, 0.1, 5), acquire(2, 1.2, 1.3)],
    "a fence that goes back": [acquire(1, 0, 0.1, 5), acquire(2, 1.2, 1.3, 4)],
    "a fence twice": [acquire(1, 0, 0.1, 5), acquire(2, 1.2, 1.3, 5)],
    "a fence left out": [acquire(1, 0, 0.1, 5), acquire(2, 1.2, 1.3, 7)],
    "renewed though over": [acquire(1, 0, 0.1, 5), renew(1, 1.3, 1.4, 5, ok=True)],
    "a stale release that counts": [
        acquire(1, 0, 0.1, 5), acquire(2, 1.2, 1.3, 6), release(1, 1.4, 1.5, 5, ok=True),
    ],
    "a stale check": [acquire(1, 0, 0.1, 5), release(1, 0.2, 0.3, 5, ok=True),
                      check(1, 0.4, 0.5, 5, 1)],
    "gone though it is held": [acquire(1, 0, 0.1, 5), check(1, 0.2, 0.3, 5, None)],
    "lost over a start": [acquire(1, 0, 0.1, 5), start(0.5, 0.9), acquire(2, 1.2, 1.3, 6)],
    "a lost release that came back": [
        acquire(1, 0, 0.1, 5),
        Operation(1, 0.2, math.inf, "release", {"fence": 5, "id": "l5"}),
        acquire(2, 0.4, 0.5, 6), check(1, 0.6, 0.7, 5, 1),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", POSSIBLE)
def test_what_may_happen(name: str) -> None:
    assert so(*POSSIBLE[name])


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_may_not(name: str) -> None:
    assert not so(*IMPOSSIBLE[name])


def test_too_many_orders_are_no_answer() -> None:
    checker = Checker(0, lambda state, one, low, high: [state + 1] if state < 3 else [], steps=50)
    with pytest.raises(Undecided):
        checker.linearizable([Operation(n, 0, 1, "x") for n in range(12)])
