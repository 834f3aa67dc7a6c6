"""The slow lane of fuzzing: atheris on each parser for half a minute, or as FUZZ_SECONDS says."""

from __future__ import annotations

import os

import pytest

from fuzz import run, targets

SECONDS = int(os.environ.get("FUZZ_SECONDS", "30"))
SEED = int(os.environ.get("FUZZ_SEED", "20261130"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(SECONDS + 2 * run.GRACE),
    pytest.mark.skipif(not run.available(), reason="atheris is not installed"),
]


@pytest.mark.parametrize("name", targets.ALL)
def test_q8_guided_fuzzing_finds_no_crash(name: str) -> None:
    outcome = run.fuzz(name, seconds=SECONDS, seed=SEED)
    print(f"FUZZ_SEED={SEED} {outcome}")
    assert outcome.crashes == (), outcome.log[-4000:]
    assert outcome.exit_code == 0, outcome.log[-4000:]
    assert outcome.runs > 0
