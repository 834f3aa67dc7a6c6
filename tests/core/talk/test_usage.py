"""Sums and differences of usage."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.talk import usage
from mufakat.core.talk.usage import Usage

COUNTS = st.integers(0, 10**9)
USAGES = st.builds(
    Usage, COUNTS, COUNTS, COUNTS, COUNTS, st.none() | st.integers(0, 10**6).map(float)
)


def test_the_total_counts_every_bucket_once() -> None:
    assert Usage(1, 20, 300, 4_000, 9.9).total == 4_321


@given(USAGES, USAGES)
def test_adding_does_not_depend_on_the_order(one: Usage, other: Usage) -> None:
    assert usage.plus(one, other) == usage.plus(other, one)


@given(USAGES)
def test_nothing_changes_nothing(one: Usage) -> None:
    assert usage.plus(one, Usage()) == one
    assert usage.since(Usage(), one) == one


@given(USAGES, USAGES)
def test_a_running_total_gives_each_turn_its_own_part(first: Usage, second: Usage) -> None:
    parts = usage.since(first, usage.plus(first, second))
    assert (parts.fresh, parts.cache_read, parts.cache_write, parts.output) == (
        second.fresh,
        second.cache_read,
        second.cache_write,
        second.output,
    )
    if first.cost is not None and second.cost is not None:
        assert parts.cost == second.cost


def test_a_counter_that_fell_starts_anew() -> None:
    now = Usage(fresh=50, output=5, cost=0.01)
    assert usage.since(Usage(fresh=900, output=80, cost=0.5), now) == now


def test_a_bucket_that_fell_is_never_negative() -> None:
    parts = usage.since(Usage(fresh=10, output=1), Usage(fresh=4, cache_read=30, output=2))
    assert parts == Usage(fresh=0, cache_read=30, output=1)


def test_an_unknown_cost_stays_unknown() -> None:
    assert usage.plus(Usage(1), Usage(2)).cost is None
    assert usage.plus(Usage(1, cost=0.5), Usage(2)).cost == 0.5
    assert usage.since(Usage(1), Usage(2)).cost is None
