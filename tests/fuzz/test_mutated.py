"""The fast lane of fuzzing: every parser over its corpus and over 2,000 mutations of it."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable

import pytest

from fuzz import mutation, targets
from mufakat.core import quote
from mufakat.engines import failure, fields
from mufakat.engines.process import json_line
from mufakat.services import announce

SEED = int(os.environ.get("FUZZ_SEED", "20261130"))
INPUTS = 2_000


def attempt(name: str, data: bytes) -> None:
    """Run one input; a fault names the input, for a file in `corpus/`."""
    try:
        targets.run(name, data)
    except Exception as fault:
        fault.add_note(f"input: {data!r}")
        raise


def mutated(name: str, *, number: int = SEED) -> None:
    """Run a target over mutated seeds; the first fault is raised."""
    print(f"FUZZ_SEED={number}")
    rng, seeds = random.Random(f"{number} {name}"), targets.ALL[name].seeds()
    for _ in range(INPUTS):
        attempt(name, mutation.mutated(seeds, rng))


def swept(name: str) -> None:
    """Run a target with every awkward value in every place of our own seeds."""
    for seed in targets.ALL[name].own():
        for data in mutation.sweep(seed):
            attempt(name, data)


@pytest.mark.parametrize("name", targets.ALL)
def test_q8_every_seed_keeps_the_properties(name: str) -> None:
    seeds = targets.ALL[name].seeds()
    assert len(seeds) >= 2
    for data in seeds:
        targets.run(name, data)


@pytest.mark.parametrize("name", targets.ALL)
def test_q8_2000_mutated_inputs_keep_the_properties(name: str) -> None:
    mutated(name)


@pytest.mark.parametrize("name", targets.ALL)
def test_q8_an_awkward_value_anywhere_keeps_the_properties(name: str) -> None:
    swept(name)


def test_the_corpus_is_small() -> None:
    files = [file for file in targets.CORPUS.rglob("*") if file.is_file()]
    assert {file.parent.name for file in files} == set(targets.ALL)
    assert sum(file.stat().st_size for file in files) < 256 * 1024


def test_a_seed_gives_the_same_inputs_again() -> None:
    seeds = targets.ALL["marks"].seeds()
    runs = [[mutation.mutated(seeds, rng) for _ in range(50)] for rng in map(random.Random, (7, 7))]
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 10


def _no_fence(body: str, fence: str) -> str:
    del fence
    return body


def _trusting(value: object, *path: str) -> int:
    return int(fields.number(value, *path) or 0)


FAULTS: dict[str, tuple[str, object, str, Callable[..., object]]] = {
    "quoted text is told as it is": ("marks", quote, "inert", _no_fence),
    "no number is odd": ("json_line", json_line, "_DECODER", json.JSONDecoder()),
    "an infinity is announced": ("opencode", announce, "_clean", lambda value, scrub: value),
    "any count is believed": ("claude", fields, "count", _trusting),
    "an error has no class": ("codex", failure, "of_text", lambda message, otherwise: None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_twin_a_fault_in_a_parser_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, module, attribute, faulty = FAULTS[fault]
    monkeypatch.setattr(module, attribute, faulty)
    with pytest.raises((AssertionError, TypeError, ValueError, AttributeError, RecursionError)):
        swept(name)
        mutated(name)
