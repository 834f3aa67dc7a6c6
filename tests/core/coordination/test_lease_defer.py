"""Putting off that a lease passes to a higher class, and who comes after a lease that ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.coordination.lease_cases import NOW, TTL, book, held, line, want
from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict, lease_defer, lease_end
from mufakat.core.coordination.lease import Cause, Lease, Lost, Rule, Waiter
from mufakat.core.coordination.lease_defer import Deferred, Refused
from mufakat.core.coordination.policy import Preemption

DEADLINE = Millis(NOW + 40_000)
GRACE = 60_000
HIGH = line(want("h", rank=2))


def asked_back(**more: object) -> Lease:
    return replace(held(want("a", rank=1)), preempt_at=DEADLINE, **more)  # type: ignore[arg-type]


def decide(lease: Lease, *waiters: Waiter, **more: object) -> lease_defer.Answer:
    asked = {"way": Preemption.GRACE, "grace": GRACE, "before": False, "now": NOW, **more}
    fence = asked.pop("fence", 1)
    return lease_defer.decide(lease, fence, book(lease, *waiters), **asked)  # type: ignore[arg-type]


def test_the_deadline_moves_by_one_grace_period_and_nothing_else_changes() -> None:
    lease = asked_back()
    later = replace(lease, preempt_at=Millis(DEADLINE + GRACE))
    assert decide(lease, HIGH) == Deferred(later, HIGH)


def test_a_second_time_is_refused_with_the_deadline_as_it_stands() -> None:
    assert decide(asked_back(), HIGH, before=True) == Refused(Rule.DEFERRED, DEADLINE)


def test_what_passes_on_without_grace_is_not_put_off() -> None:
    refused = decide(asked_back(), HIGH, way=Preemption.NOW)
    assert refused == Refused(Rule.PREEMPT_NOW, DEADLINE)


@pytest.mark.parametrize(
    "waiter", [line(want("e", rank=1)), line(want("h", "task:z", rank=3)), line(want("a", rank=3))]
)
def test_where_nobody_takes_it_the_one_time_is_not_used_up(waiter: Waiter) -> None:
    """An equal, somebody who wants another thing, and the holder itself."""
    assert decide(asked_back(), waiter) == Refused(Rule.NOT_ASKED)
    assert decide(asked_back(), waiter, before=True) == Refused(Rule.NOT_ASKED)
    assert decide(replace(asked_back(), preempt_at=None), HIGH) == Refused(Rule.NOT_ASKED)


@pytest.mark.parametrize("fence", [0, 2, -1])
def test_row_22_another_fence_puts_off_nothing(fence: int) -> None:
    assert decide(asked_back(), HIGH, fence=fence) == Lost(Cause.REVOKED, "a")
    over = lease_end.end(asked_back(), Cause.STOLEN, now=NOW)
    assert decide(over, HIGH) == Lost(Cause.STOLEN, "")


def ended(*resources: str, cause: Cause = Cause.EXPIRED) -> Lease:
    return lease_end.end(held(want("a", *resources)), cause, now=Millis(NOW + TTL))


def whole(lease: Lease) -> lease_conflict.Claim:
    return lease_end.left_over(lease, lease.fence)


def test_l9_who_waited_before_the_rest_was_over_takes_over() -> None:
    lease = ended("port:80")
    assert lease.locked_until is not None
    for at, comes_after in (
        (NOW, True),
        (lease.locked_until, True),
        (lease.locked_until + 1, False),
    ):
        waiter = line(want("b", "port:80"), at=at)
        assert lease_end.takes_over(waiter, whole(lease)) is comes_after
    assert not lease_end.takes_over(line(want("b", "port:81")), whole(lease))
    assert not lease_end.takes_over(line(want("b", "port:80")), whole(held(want("a", "port:80"))))


def test_l9_a_resource_that_somebody_had_since_comes_from_them() -> None:
    lease = ended("port:80", "task:a")
    since = lease_end.left_over(lease, {"port:80": 1, "task:a": 3}.__getitem__)
    assert since.resources == ["port:80"]
    assert lease_end.takes_over(line(want("b", "port:80")), since)
    assert not lease_end.takes_over(line(want("b", "task:a")), since)
