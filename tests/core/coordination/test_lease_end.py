"""How leases go on and end: renewal, release, expiry, preemption and the start of the server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.coordination.lease_cases import NOW, TTL, book, held, line, want
from mufakat.core.base import Millis
from mufakat.core.coordination import lease_end
from mufakat.core.coordination.lease import MAX_HOLD, Cause, Lease, Lost, Rule, Waiter

HALF = Millis(NOW + TTL // 2)


def renew(lease: Lease, fence: int = 1, *others: Lease | Waiter, at: int, ttl: int = TTL) -> object:
    return lease_end.renew(lease, fence, ttl=ttl, book=book(lease, *others), now=Millis(at))


def test_l5_renewal_counts_from_now_and_never_shortens() -> None:
    lease = held(want("a"))
    longer = renew(lease, at=HALF)
    assert isinstance(longer, Lease) and longer.expires == HALF + TTL
    assert longer.fences == lease.fences
    assert renew(lease, at=HALF, ttl=5_000) == lease


@pytest.mark.parametrize("fence", [0, 2, -1, 1 << 62])
def test_row_22_another_fence_renews_nothing(fence: int) -> None:
    assert renew(held(want("a")), fence, at=HALF) == Lost(Cause.REVOKED, "a")


def test_l5_an_expired_lease_is_not_resurrected_though_nobody_took_it() -> None:
    assert renew(held(want("a")), at=NOW + TTL) == Lost(Cause.EXPIRED, "")


@pytest.mark.parametrize("cause", list(Cause))
def test_l5_the_refusal_says_why_and_who_has_it_now(cause: Cause) -> None:
    ended = lease_end.end(held(want("a")), cause, now=NOW)
    assert renew(ended, 1, held(want("b")), at=NOW + 1) == Lost(cause, "b")


def test_l6_while_somebody_waits_nobody_renews_beyond_the_longest_hold() -> None:
    lease = replace(held(want("a", ttl=MAX_HOLD - 1_000)), expires=Millis(NOW + MAX_HOLD - 500))
    at = NOW + MAX_HOLD - 1_000
    alone = renew(lease, at=at)
    assert isinstance(alone, Lease) and alone.expires == at + TTL
    contested = renew(lease, 1, line(want("b")), at=at)
    assert isinstance(contested, Lease) and contested.expires == NOW + MAX_HOLD
    over = renew(replace(lease, expires=Millis(at + TTL)), 1, line(want("b")), at=at)
    assert isinstance(over, Lease) and over.expires == at + TTL


def test_l7_release_frees_once_and_only_by_its_own_fence() -> None:
    lease = held(want("a"))
    ended = lease_end.release(lease, 1, now=HALF)
    assert ended is not None and (ended.ended, ended.cause) == (HALF, Cause.RELEASED)
    assert lease_end.release(ended, 1, now=HALF) is None
    assert lease_end.release(lease, 2, now=HALF) is None
    assert lease_end.release(lease, 1, now=Millis(NOW + TTL)) is None


def test_t3_expiry_comes_at_its_time_in_the_order_of_expiry_and_resource() -> None:
    leases = [
        held(want("c", "task:c", ttl=20_000)),
        held(want("b", "task:b", ttl=10_000)),
        held(want("a", "task:a", ttl=20_000)),
    ]
    assert not list(lease_end.overdue(book(*leases), Millis(NOW + 9_999)))
    over = list(lease_end.overdue(book(*leases), Millis(NOW + 20_000)))
    assert [one.lease.wanted.holder for one in over] == ["b", "a", "c"]
    assert {one.rule for one in over} == {Rule.TTL}


def test_l12_an_unclaimed_grant_passes_on_without_a_rest() -> None:
    lease = held(want("a", "port:80"), claim=10_000)
    (over,) = lease_end.overdue(book(lease), Millis(NOW + 10_000))
    assert over.rule is Rule.NOT_CLAIMED and over.lease.locked_until is None


def test_l10_a_lease_is_taken_for_a_higher_class_that_still_waits() -> None:
    lease = held(want("a", rank=1))
    high, equal = line(want("h", rank=2)), line(want("e", rank=1), at=NOW - 999)
    assert lease_end.preempted(lease, book(lease, high, equal), NOW) == high
    assert lease_end.preempted(lease, book(lease, equal), NOW) is None
    elsewhere = line(want("h", "task:z", rank=3))
    assert lease_end.preempted(lease, book(lease, elsewhere), NOW) is None


def test_t2_after_a_start_a_lease_lives_30_seconds_or_its_ttl_at_least() -> None:
    lease = replace(held(want("a")), preempt_at=Millis(NOW + 1))
    started = lease_end.after_start(lease, Millis(NOW + TTL + 5))
    assert started.expires == NOW + TTL + 5 + 30_000
    assert started.preempt_at is None
    short = held(want("a", ttl=5_000))
    assert lease_end.after_start(short, Millis(NOW + 6_000)).expires == NOW + 11_000
    assert lease_end.after_start(lease, NOW).expires == lease.expires
