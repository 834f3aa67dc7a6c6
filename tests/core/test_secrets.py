"""Secrets are found by their look, and ordinary code is left alone."""

from __future__ import annotations

import random
import re
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import secret_samples as made
from mufakat.core import secrets
from mufakat.core.secrets import Scrubbed

KINDS = secrets.KINDS
Scrub = Callable[[str], Scrubbed]


def recall(kind: str, seed: int, scrub: Scrub = secrets.scrub) -> float:
    """The part of 300 made-up secrets whose text does not survive."""
    chance = random.Random(seed)
    found = 0
    for _ in range(300):
        secret, text = made.samples(kind, chance)
        clean = scrub(text)
        found += secret not in clean.text and kind in clean.kinds
    return found / 300


def test_there_are_forty_one_kinds_and_a_sample_of_each() -> None:
    assert len(KINDS) == 41
    assert set(made.MAKE) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_row_36_every_kind_is_found(kind: str) -> None:
    seed = random.randrange(2**32)
    assert recall(kind, seed) >= 0.99, f"seed {seed}"


@pytest.mark.parametrize("kind", KINDS)
def test_row_36_a_missing_kind_is_noticed(kind: str) -> None:
    def forgetful(text: str) -> Scrubbed:
        return Scrubbed(text) if kind in secrets.scrub(text).kinds else secrets.scrub(text)

    assert recall(kind, 1, forgetful) < 0.5


@pytest.mark.parametrize("text", made.ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert secrets.scrub(text) == Scrubbed(text)


def ordinary() -> list[Path]:
    """The standard library, this package, its pages, and every 25th file of what is installed."""
    here = Path(__file__).parents[2]
    installed = sorted(Path(sysconfig.get_path("purelib")).glob("**/*.py"))
    return [
        *sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")),
        *sorted((here / "src").glob("**/*.py")),
        *sorted((here / "docs").glob("**/*.md")),
        *installed[::25],
    ]


def false_lines(scrub: Scrub) -> tuple[int, int]:
    """Lines of ordinary text, and how many of them are taken for secrets."""
    lines = found = 0
    for file in ordinary():
        text = file.read_text(encoding="utf-8", errors="replace")
        lines += text.count("\n")
        if scrub(text).kinds:
            found += sum(bool(scrub(line).kinds) for line in text.split("\n"))
    return lines, found


def test_row_36_at_most_one_line_in_five_thousand_is_taken_for_a_secret() -> None:
    lines, found = false_lines(secrets.scrub)
    assert lines > 100_000
    assert found * 5_000 <= lines, f"{found} of {lines:,}"


def test_row_36_a_greedy_shape_is_noticed() -> None:
    lines, found = false_lines(
        lambda text: Scrubbed(text, ("assigned-secret",) if "password" in text else ())
    )
    assert found * 5_000 > lines


@settings(max_examples=60)
@given(st.lists(st.sampled_from(KINDS), max_size=6), st.integers(0, 2**32))
def test_a_clean_text_stays_as_it_is(kinds: list[str], seed: int) -> None:
    chance = random.Random(seed)
    text = "\n\n".join(made.samples(kind, chance)[1] for kind in kinds)
    once = secrets.scrub(text)
    assert secrets.scrub(once.text) == Scrubbed(once.text)


@settings(max_examples=100)
@given(st.text())
def test_text_without_secrets_comes_back_unchanged(text: str) -> None:
    clean = secrets.scrub(text)
    assert clean.kinds or clean.text == text


def test_two_mentions_can_be_seen_to_be_one() -> None:
    key, other = (f"ghp_{made.word(random.Random(seed), 36)}" for seed in (1, 2))
    first, second, third = secrets.scrub(f"{key} {key} {other}").text.split()
    assert first == second == secrets.placeholder("github-token", key)
    assert first != third
    assert first.startswith("[secret:github-token:")


def test_a_known_shape_keeps_its_kind_when_it_is_assigned() -> None:
    key = f"ghp_{made.word(random.Random(3), 36)}"
    assert secrets.scrub(f'api_key = "{key}"').kinds == ("github-token",)


def test_own_tokens_are_found_by_value_and_the_longer_one_first() -> None:
    known = {"correct-horse", "correct-horse-battery"}
    clean = secrets.scrub("say correct-horse-battery, not correct-horse", known)
    assert clean.kinds == ("own-token", "own-token")
    assert "horse" not in clean.text and "battery" not in clean.text


def test_a_short_own_token_is_not_searched_for() -> None:
    assert secrets.scrub("a text about a thing", ["a"]).text == "a text about a thing"


def test_what_stands_around_a_secret_stays() -> None:
    chance = random.Random(4)
    block = made.key_block(chance)
    clean = secrets.scrub(f"before\n{block}\nafter")
    assert clean.text == f"before\n{secrets.placeholder('private-key', block)}\nafter"


def test_lone_surrogates_do_no_harm() -> None:
    assert secrets.scrub('password = "\ud800abc"').kinds == ()


HOSTILE = (
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A A A A ",
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 20,
    "sk-",
    "sk-a.",
    "eyJ",
    "eyJaaaaaaaa.",
    "eyJaaaaaaaa.eyJaaaaaaaa.",
    "://a:",
    "password=",
    "password = '",
    "password    ",
    "secret:a1",
    "xoxb-",
    "AKIA",
    "glpat-",
    "SG.aaaaaaaaaaaaaaaa.",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4.",
    "123456789:AA",
    "Basic dXNlcjpw",
    "Authorization: Basic ",
    '"auth": "',
    "curl -u a:",
    "curl ",
    "AccountKey=",
    "8Q~",
    "?sig=",
    "/webhooks/12345678901234567/",
    '"private_key": "-----BEGIN PRIVATE KEY-----',
    "hooks.slack.com/services/",
    "ya29.",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_near_misses_is_read_once(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    began = time.process_time()
    secrets.scrub(text)
    assert time.process_time() - began < 3


def test_an_unbounded_shape_would_be_noticed() -> None:
    quadratic = re.compile(r"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20}")
    text = "sk-" * 8_000
    began = time.process_time()
    quadratic.sub("", text)
    slow = time.process_time() - began
    began = time.process_time()
    secrets.scrub(text)
    assert slow > 10 * (time.process_time() - began)
