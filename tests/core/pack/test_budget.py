"""The allocator by table and by property."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.pack import claims as made
from mufakat.core.pack import budget
from mufakat.core.pack.budget import Allocation, Claim, Impossible

Allocator = Callable[[int, Sequence[Claim]], Allocation | Impossible]


def shared(answer: Allocation | Impossible) -> Allocation:
    assert isinstance(answer, Allocation), answer
    return answer


def usable(claim: Claim) -> int:
    """What a claim could use at all."""
    if claim.fixed or claim.takes_rest:
        return claim.need
    return max(claim.most, budget.reserved(claim))


def check(total: int, claims: list[Claim], allocate: Allocator = budget.allocate) -> None:
    """Every property that needs one case alone."""
    reserved = sum(budget.reserved(claim) for claim in claims)
    answer = allocate(total, claims)
    assert isinstance(answer, Impossible) == (reserved > total), "impossible exactly when too much"
    if isinstance(answer, Impossible):
        assert (answer.budget, answer.needed) == (total, reserved)
        assert sum(size for _, size in answer.sizes) == reserved
        assert [size for _, size in answer.sizes] == sorted(
            (size for _, size in answer.sizes), reverse=True
        )
        return
    used = sum(answer.granted.values())
    assert used <= total, "never over the total"
    assert used + answer.unused == total
    assert used >= 0.98 * min(total, sum(usable(claim) for claim in claims)), "what fits is used"
    for claim in claims:
        granted = answer.granted[claim.kind]
        assert budget.reserved(claim) <= granted <= usable(claim)
        if claim.floor and claim.most and not answer.scaled_floors:
            assert granted >= min(claim.floor, claim.most), "a floor is kept"
    assert allocate(total, claims[::-1]) == answer, "order changes nothing"


def check_weights(total: int, claims: list[Claim], allocate: Allocator = budget.allocate) -> None:
    """More weight never gets less: beside a twin, and beside itself with less weight."""
    claim = next((claim for claim in claims if not claim.fixed), None)
    if claim is None:
        return
    heavier = replace(claim, weight=claim.weight * 1.5 + 0.001)
    twin = allocate(total, [*claims, replace(heavier, kind="twin")])
    if isinstance(twin, Allocation) and not claim.takes_rest:
        assert twin.granted["twin"] >= twin.granted[claim.kind], "beside a lighter twin"
    before = allocate(total, claims)
    after = allocate(total, [heavier if c is claim else c for c in claims])
    if isinstance(before, Allocation) and isinstance(after, Allocation):
        assert after.granted[claim.kind] >= before.granted[claim.kind], "beside itself"


SEEDS = st.integers(0, 2**64)
"""A seed makes a whole case, which is fifty times as fast as drawing it piece by piece."""


@settings(max_examples=10_000)
@given(SEEDS)
def test_properties(seed: int) -> None:
    check(*made.case(seed))
    check_weights(*made.case(seed))


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@settings(max_examples=100_000)
@given(SEEDS)
def test_properties_at_length(seed: int) -> None:
    check(*made.case(seed))
    check_weights(*made.case(seed))


def greedy(total: int, claims: Sequence[Claim]) -> Allocation | Impossible:
    """First come, first served: fair to nobody."""
    granted, left = {}, total
    for claim in claims:
        granted[claim.kind] = min(left, claim.most)
        left -= granted[claim.kind]
    return Allocation(granted, False, left)


def proportional(total: int, claims: Sequence[Claim]) -> Allocation | Impossible:
    """By weight once: what a full section leaves is lost."""
    answer = budget.allocate(total, claims)
    if isinstance(answer, Impossible):
        return answer
    weight = sum(claim.weight for claim in claims) or 1
    granted = {claim.kind: min(claim.most, int(total * claim.weight / weight)) for claim in claims}
    return Allocation(granted, False, total - sum(granted.values()))


def largest_remainder(total: int, claims: Sequence[Claim]) -> Allocation | Impossible:
    """Rounds shares up: over the total by a character or two."""
    answer = budget.allocate(total, claims)
    if isinstance(answer, Impossible):
        return answer
    return replace(answer, granted={kind: size + 1 for kind, size in answer.granted.items()})


@pytest.mark.parametrize("faulty", [greedy, proportional, largest_remainder])
def test_the_properties_catch_a_faulty_allocator(faulty: Allocator) -> None:
    with pytest.raises(AssertionError):
        for seed in range(500):
            check(*made.case(seed), allocate=faulty)


def test_weights_taken_for_order_are_caught() -> None:
    def upside_down(total: int, claims: Sequence[Claim]) -> Allocation | Impossible:
        return budget.allocate(total, [replace(c, weight=1 / (c.weight + 1)) for c in claims])

    with pytest.raises(AssertionError):
        for seed in range(500):
            check_weights(*made.case(seed), allocate=upside_down)


@given(st.integers(0, 5_000), st.integers(0, 30), st.integers(1, 20))
def test_equal_claims_differ_by_one_character_at_most(need: int, total: int, count: int) -> None:
    claims = [Claim(f"c{number:02}", need) for number in range(count)]
    granted = shared(budget.allocate(total, claims)).granted.values()
    assert max(granted) - min(granted) <= 1


def test_a_long_plan_takes_what_skills_do_not_need() -> None:
    plan = Claim("plan", 6_000, weight=2.0, floor=1_000, ceiling=6_000)
    quiet = shared(budget.allocate(6_500, [plan, Claim("skills", 500, floor=500, ceiling=3_000)]))
    loud = shared(budget.allocate(6_500, [plan, Claim("skills", 3_000, floor=500, ceiling=3_000)]))
    assert quiet.granted == {"plan": 6_000, "skills": 500}
    assert loud.granted == {"plan": 4_334, "skills": 2_166}


def test_history_takes_what_is_left_beyond_its_ceiling() -> None:
    claims = [
        Claim("history", 50_000, weight=3.0, ceiling=10_000, takes_rest=True),
        Claim("plan", 800, ceiling=4_000),
    ]
    assert shared(budget.allocate(20_000, claims)).granted == {"history": 19_200, "plan": 800}


def test_guarantees_come_before_floors() -> None:
    claims = [Claim("history", 9_000, guarantee=900), Claim("plan", 2_000, floor=500)]
    answer = shared(budget.allocate(1_000, claims))
    assert answer.granted == {"history": 900, "plan": 100}
    assert answer.scaled_floors


def test_floors_that_do_not_fit_shrink_together() -> None:
    claims = [Claim("a", 900, floor=300), Claim("b", 900, floor=600)]
    answer = shared(budget.allocate(300, claims))
    assert answer.granted == {"a": 100, "b": 200}
    assert answer.scaled_floors


def test_impossible_names_the_largest_part_first() -> None:
    claims = [
        Claim("platform", 400, fixed=True),
        Claim("prompt", 900, fixed=True),
        Claim("history", 5_000, guarantee=50),
        Claim("plan", 300),
    ]
    assert budget.allocate(1_000, claims) == Impossible(
        1_000, 1_350, (("prompt", 900), ("platform", 400), ("history", 50))
    )


@pytest.mark.parametrize("total", [0, 1, 60_000])
def test_nothing_to_say_uses_nothing(total: int) -> None:
    assert budget.allocate(total, []) == Allocation({}, False, total)
    assert budget.allocate(total, [Claim("plan", 0, floor=500)]) == Allocation(
        {"plan": 0}, False, total
    )


def test_every_hash_seed_gives_the_same_bytes() -> None:
    program = Path(made.__file__)
    printed = set()
    for seed in ("0", "1", "4242"):
        environ = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, str(program)]
        printed.add(subprocess.run(command, env=environ, capture_output=True, check=True).stdout)
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) == 200
