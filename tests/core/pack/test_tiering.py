"""Adaptive tiering: numbers decide, late and with hysteresis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mufakat.core.pack import tiering
from mufakat.core.pack.tiering import Seen, Use


def pushed(*, used: bool, chars: int = 3_000) -> Seen:
    return Seen("code", True, used=used, pushed_chars=chars)


def waited(*, pulled: bool, chars: int = 2_500) -> Seen:
    return Seen("code", True, pulled=pulled, pulled_chars=chars if pulled else 0)


def after(use: Use, turns: list[Seen]) -> Use:
    for turn in turns:
        use = tiering.seen(use, turn)
    return use


def test_nothing_changes_before_twenty_requests():
    use = after(Use("code", True), [pushed(used=False)] * 19)
    assert use.push and tiering.decide(use).push
    assert "19 of 20" in tiering.decide(use).why
    assert tiering.learnt([use], usual={"code": True}) == ()


def test_what_is_never_used_waits_to_be_pulled():
    use = after(Use("code", True), [pushed(used=False)] * 20)
    assert not use.push
    assert use.requests == 0, "counted anew"
    (held,) = tiering.learnt([use], usual={"code": True})
    assert not held.push and held.why == "0 of 20 requests seen"
    assert use.pushed_chars == 3_000, "its size stays known"


def test_what_is_used_stays_pushed_and_says_its_numbers():
    use = after(Use("code", True), [pushed(used=n % 10 != 0) for n in range(40)])
    decision = tiering.decide(use)
    assert decision.push
    assert decision.why == ("P(use) 0.90 × pull 5,000 > push 3,000 characters, over 40 requests")


def test_what_is_pulled_again_and_again_is_pushed():
    held = after(Use("code", True), [pushed(used=False)] * 20)
    assert not after(held, [waited(pulled=True)] * 19).push
    assert after(held, [waited(pulled=True)] * 20).push


def test_hysteresis_between_both_nothing_changes():
    """P(use) x pull is 0.9 of push: neither regime gives way."""
    use = Use("code", True, requests=100, pushed=100, used=54, pushed_chars=300_000)
    assert tiering.decide(use).push
    other = replace(use, push=False, pushed=0, used=0, pushed_chars=0, pulled=54)
    other = replace(other, pulled_chars=54 * 3_000)
    assert not tiering.decide(other).push


def test_twin_without_a_margin_it_would_flap(monkeypatch):
    monkeypatch.setattr(tiering, "MARGIN", 0.0)
    use = Use("code", True, requests=100, pushed=100, used=54, pushed_chars=300_000)
    assert not tiering.decide(use).push


def test_habits_may_change():
    use = after(Use("code", True), [pushed(used=True)] * 400)
    assert use.requests < tiering.HALF
    assert not after(use, [pushed(used=False)] * 200).push


ITEM = "x src/core/lease.py:10-42 Leases.acquire\nthe quick brown fox jumps over the lazy dog again"


@pytest.mark.parametrize(
    "said",
    [
        "It is in src/core/lease.py.",
        "Read lease.py first",
        '{"file": "src/core/lease.py"}',
        "Leases.acquire decides it",
        "As said: The quick brown fox, jumps over the lazy dog.",
    ],
)
def test_an_item_counts_as_used_when_it_is_named(said):
    assert tiering.names(ITEM, id="src/core/lease.py:10-42", said=said)


@pytest.mark.parametrize(
    "said",
    ["", "I looked at src/core/other.py.", "the quick brown fox", "lease", "acquire a core"],
)
def test_other_words_are_no_use(said):
    assert not tiering.names(ITEM, id="src/core/lease.py:10-42", said=said)


def test_messages_are_named_by_their_number():
    text = "m:104 ana@mac:1f 2026-11-30\nHello there."
    assert tiering.names(text, id="recall:m:104", said="as in m:104")
    assert not tiering.names(text, id="recall:m:104", said="as in m:10, by ana@mac:1f")
