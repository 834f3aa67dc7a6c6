"""Who gets a lease now: conflicts, sharing, counted places, the queue and circles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.coordination.lease_cases import NOW, TTL, book, held, line, want
from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict, lease_end, lease_grant, lease_queue
from mufakat.core.coordination.lease import (
    Answer,
    Cause,
    Granted,
    Held,
    Lease,
    Renewed,
    Rule,
    Waiter,
    Wanted,
)


def decide(wanted: Wanted, *entries: Lease | Waiter, at: int = NOW) -> Answer:
    return lease_grant.decide(line(wanted, at=at, id="w_new"), book(*entries), now=Millis(at))


def test_what_is_free_is_granted() -> None:
    assert decide(want("a")) == Granted()
    assert decide(want("a", "task:x"), held(want("b", "task:y"))) == Granted()


def test_l2_a_conflict_is_never_granted_and_names_the_holder() -> None:
    answer = decide(want("a", "task:x", "task:y"), held(want("b", "task:y", reason="writes it")))
    assert isinstance(answer, Held)
    assert answer.rule is Rule.HELD and answer.position == 1
    (holder,) = answer.holders
    assert (holder.holder, holder.resource, holder.reason) == ("b", "task:y", "writes it")
    assert holder.remaining == TTL


def test_l1_patterns_conflict_where_one_path_matches_both() -> None:
    whole = held(want("b", "file:/r/src/**"))
    assert isinstance(decide(want("a", "file:/r/src/x.py"), whole), Held)
    assert decide(want("a", "file:/r/docs/*"), whole) == Granted()


def test_l4_the_same_request_again_is_the_same_lease_and_never_shorter() -> None:
    lease = held(want("a"))
    answer = decide(want("a"), lease, at=NOW + 30_000)
    assert isinstance(answer, Renewed)
    assert answer.lease.fences == lease.fences
    assert answer.lease.expires == lease.expires + 30_000
    shorter = decide(want("a", ttl=5_000), lease, at=NOW + 1)
    assert isinstance(shorter, Renewed) and shorter.lease.expires == lease.expires


def test_l4_after_its_expiry_the_same_request_is_a_new_one() -> None:
    assert decide(want("a"), held(want("a")), at=NOW + TTL) == Granted()


def test_nobody_is_in_their_own_way() -> None:
    assert decide(want("a", "task:a", "task:b"), held(want("a"))) == Granted()
    assert decide(want("a"), held(want("a", shared=True))) == Granted()
    both = held(want("a", shared=True)), held(want("b", shared=True))
    assert isinstance(decide(want("a"), *both), Held)


def test_l13_readers_share_and_a_waiting_writer_of_its_class_stops_new_ones() -> None:
    reader = held(want("a", shared=True))
    assert decide(want("b", shared=True), reader) == Granted()
    writer = line(want("w"), at=NOW - 1)
    answer = decide(want("b", shared=True), reader, writer)
    assert isinstance(answer, Held) and answer.rule is Rule.QUEUED_BEFORE
    assert answer.holders[0].holder == "w"


def test_l13_a_reader_of_a_higher_class_passes_a_young_writer_but_not_an_old_one() -> None:
    reader = held(want("a", shared=True))
    young, old = line(want("w"), at=NOW - 1), line(want("w"), at=NOW - 900_001)
    high = want("b", shared=True, rank=2)
    assert decide(high, reader, young) == Granted()
    assert isinstance(decide(high, reader, old), Held)


def test_slots_count_to_the_smallest_number_that_anybody_named() -> None:
    two = want("a", "custom:gpu", slots=2), want("b", "custom:gpu", slots=2)
    assert decide(want("c", "custom:gpu", slots=2), held(two[0])) == Granted()
    assert isinstance(decide(want("c", "custom:gpu", slots=2), *map(held, two)), Held)
    assert isinstance(decide(want("c", "custom:gpu", slots=3), *map(held, two)), Held)
    assert isinstance(decide(want("c", "custom:gpu"), held(two[0])), Held)
    assert isinstance(decide(want("c", "custom:gpu", slots=9), held(want("a", "custom:gpu"))), Held)


def test_l9_an_expired_unfenced_resource_rests_and_a_fenced_one_does_not() -> None:
    lease = held(want("a", "port:80", "task:a"))
    ended = lease_end.end(lease, Cause.EXPIRED, now=Millis(NOW + TTL))
    assert ended.locked_until == NOW + TTL + 15_000
    later = NOW + TTL + 1
    answer = decide(want("b", "port:80"), ended, at=later)
    assert isinstance(answer, Held) and answer.rule is Rule.LOCK_DELAY
    assert answer.holders[0].remaining == 14_999
    assert decide(want("b", "task:a"), ended, at=later) == Granted()
    assert decide(want("a", "port:80"), ended, at=later) == Granted()
    assert decide(want("b", "port:80"), ended, at=NOW + TTL + 15_000) == Granted()


@pytest.mark.parametrize("cause", [Cause.RELEASED, Cause.CRASHED, Cause.STOLEN])
def test_l9_after_release_or_certain_death_nothing_rests(cause: Cause) -> None:
    ended = lease_end.end(held(want("a", "port:80")), cause, now=NOW)
    assert ended.locked_until is None
    assert decide(want("b", "port:80"), ended) == Granted()


def test_l9_the_rest_is_no_longer_than_the_ttl() -> None:
    ended = lease_end.end(held(want("a", "port:80", ttl=5_000)), Cause.EXPIRED, now=NOW)
    assert ended.locked_until == NOW + 5_000


def test_p2_a_class_counts_as_900_seconds_of_waiting() -> None:
    low, high = line(want("low", rank=0), at=NOW), line(want("high", rank=1), at=NOW + 899_999)
    late = line(want("late", rank=1), at=NOW + 900_001)
    order = [one.wanted.holder for one in lease_queue.ordered(book(low, high, late))]
    assert order == ["high", "low", "late"]


def test_l12_the_queue_is_first_come_first_served_within_a_class() -> None:
    entries = [line(want(name), at=NOW + at) for at, name in enumerate("abc")]
    answer = decide(want("d"), held(want("x")), *entries, at=NOW + 9)
    assert isinstance(answer, Held) and answer.position == 4
    order = [one.wanted.holder for one in lease_queue.ordered(book(*reversed(entries)))]
    assert order == ["a", "b", "c"]


def test_row_26_a_circle_of_two_is_seen_and_named() -> None:
    a, b = held(want("a", "task:a")), held(want("b", "task:b"))
    waits = line(want("a", "task:b"))
    found = lease_queue.cycle(want("b", "task:a"), book(a, b, waits), NOW)
    assert found is not None and found.cycle == ("b", "a")
    assert lease_queue.cycle(want("c", "task:a"), book(a, b, waits), NOW) is None


def test_l12_a_circle_of_three_is_seen() -> None:
    leases = [held(want(name, f"task:{name}")) for name in "abc"]
    waits = [line(want("a", "task:b")), line(want("b", "task:c"))]
    found = lease_queue.cycle(want("c", "task:a"), book(*leases, *waits), NOW)
    assert found is not None and found.cycle == ("c", "a", "b")


def test_l12_who_holds_what_the_first_in_line_waits_for_passes_it_by() -> None:
    holds = held(want("y", "task:a"))
    first = line(want("x", "task:a", "task:b"), at=NOW - 5)
    assert decide(want("y", "task:b"), holds, first) == Granted()
    assert isinstance(decide(want("z", "task:b"), holds, first), Held)


def test_a_circle_that_came_up_while_waiting_is_told_to_its_youngest_entry() -> None:
    a, b = held(want("a", "task:a")), held(want("b", "task:b"))
    old, young = line(want("a", "task:b"), at=NOW), line(want("b", "task:a"), at=NOW + 1)
    both = book(a, b, old, young)
    assert lease_queue.stuck(young, both, NOW) is not None
    assert lease_queue.stuck(old, both, NOW) is None


def test_the_deputy_gets_the_same_and_has_time_to_hear_of_it() -> None:
    lease = held(want("a", "port:80", deputy="d", next_step="go on"))
    heir = lease_grant.heir(lease)
    assert heir == replace(lease.wanted, holder="d", deputy="")
    assert lease_grant.heir(held(want("a", deputy="a"))) is None
    ended = lease_end.end(lease, Cause.EXPIRED, now=NOW)
    assert lease_grant.step_in(ended, now=NOW) == 75_000


def test_l9_a_deputy_claims_only_after_the_rest() -> None:
    ended = lease_end.end(held(want("a", "port:80", deputy="d")), Cause.EXPIRED, now=NOW)
    waiting = held(want("d", "port:80"), claim=75_000)
    assert isinstance(decide(want("d", "port:80"), ended, waiting), Held)
    answer = decide(want("d", "port:80"), ended, waiting, at=NOW + 15_000)
    assert isinstance(answer, Renewed) and answer.lease.claim_until is None


def test_an_unclaimed_grant_keeps_others_away_until_its_time_is_over() -> None:
    lease = held(want("a"), claim=10_000)
    assert isinstance(decide(want("b"), lease, at=NOW + 9_999), Held)
    assert decide(want("b"), lease, at=NOW + 10_000) == Granted()
    assert lease_conflict.live(lease, Millis(NOW + 9_999))
