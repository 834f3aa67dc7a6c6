"""Identities: shortest, unique, and readable back."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.coordination import identity
from mufakat.core.coordination.identity import Identity

INSTANCE = "8f3a2c" + "0123456789abcdef" * 2
INSTANCES = st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}")


def test_the_shortest_form_has_six_digits() -> None:
    assert str(identity.assign("claude", "greenmac", instance=INSTANCE)) == "claude@greenmac:8f3a2c"


def test_the_instance_grows_until_it_is_unique() -> None:
    taken = frozenset({"claude@greenmac:8f3a2c", "claude@greenmac:8f3a2c0"})
    given_out = identity.assign("claude", "greenmac", instance=INSTANCE, taken=taken)
    assert str(given_out) == "claude@greenmac:8f3a2c01"


def test_an_instance_that_is_taken_in_full_is_refused() -> None:
    taken = frozenset(f"claude@greenmac:{INSTANCE[:digits]}" for digits in range(6, 39))
    with pytest.raises(ValueError, match="taken in full"):
        identity.assign("claude", "greenmac", instance=INSTANCE, taken=taken)


@given(st.text(max_size=60), st.text(max_size=90), INSTANCES)
def test_whatever_the_host_is_called_the_identity_can_be_read_back(
    engine: str, host: str, instance: str
) -> None:
    assigned = identity.assign(engine, host, instance=instance)
    assert identity.parse(str(assigned)) == assigned


def test_a_thousand_of_the_same_instance_digits_stay_apart() -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    taken: set[str] = set()
    for _ in range(1_000):
        instance = f"abcdef{chance.getrandbits(104):026x}"
        taken.add(str(identity.assign("codex", "box", instance=instance, taken=frozenset(taken))))
    assert len(taken) == 1_000, f"seed {seed}"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("", "localhost"),
        ("Green-Mac.local", "green-mac"),
        ("Ümlaut_Böx", "mlaut-b-x"),
        ("한국", "agent"),
        ("a" * 99, "a" * 63),
    ],
)
def test_host_labels(host: str, expected: str) -> None:
    assert identity.host_label(host) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "human",
        "claude",
        "claude@greenmac",
        "claude@greenmac:8f3a2",
        "claude@greenmac:8F3A2C",
        "Claude@greenmac:8f3a2c",
        "claude@green mac:8f3a2c",
        "claude@greenmac:8f3a2c\n",
        "cl\u0430ude@greenmac:8f3a2c",
        f"claude@greenmac:{'0' * 33}",
    ],
)
def test_what_is_no_identity_is_not_read_as_one(text: str) -> None:
    assert identity.parse(text) is None


def test_the_parts_are_named() -> None:
    assert identity.parse("openai-compat@box.lan:012345") == Identity(
        "openai-compat", "box.lan", "012345"
    )
