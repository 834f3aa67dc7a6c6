"""Leases against their model: random histories, and faults that none of them may overlook."""

from __future__ import annotations

import pytest
from hypothesis.errors import HypothesisException

from mufakat.core.base import MufakatError
from services.coordination.leases import faults, machine

NOTICED = (AssertionError, MufakatError, LookupError, ValueError, HypothesisException)


def test_q1_random_histories_keep_every_rule() -> None:
    machine.explore(examples=150, steps=30)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_q1_many_more_histories_keep_every_rule() -> None:
    machine.explore(examples=10_000, steps=40, fixed=False)


@pytest.mark.parametrize("fault", faults.ALL)
def test_q16_a_build_with_this_fault_is_found_out(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults.ALL[fault](monkeypatch)
    with pytest.raises(NOTICED):
        machine.explore(examples=600, steps=30, shrink=False)
