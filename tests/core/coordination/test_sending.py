"""Sending: every limit refuses before anything is stored, each with its fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mufakat.core.base import InvalidInput, TooLarge
from mufakat.core.coordination import sending
from mufakat.core.coordination.sending import Sending

GOOD = Sending(("claude@host:aaaaaa",), body="words")


def refused(wanted: Sending, key: str = "k") -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        sending.check(wanted, key=key)
    assert caught.value.fix
    return caught.value


def test_what_is_within_the_limits_passes() -> None:
    sending.check(replace(GOOD, body="x" * sending.BODY_BYTES, to=("a",) * 64), key="k" * 128)


def test_row_29_a_body_that_is_too_large_counted_in_bytes() -> None:
    assert isinstance(refused(replace(GOOD, body="x" * (256 * 1024 + 1))), TooLarge)
    assert isinstance(refused(replace(GOOD, body="한" * (86 * 1024))), TooLarge)


def test_row_29_too_many_recipients() -> None:
    refused(replace(GOOD, to=tuple(str(n) for n in range(65))))


@pytest.mark.parametrize("key", ["", "k" * 129, "a\nb", "a b", "ключ"])
def test_row_12_keys_that_are_none(key: str) -> None:
    refused(GOOD, key)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(GOOD, body=" \n"),
        replace(GOOD, to=()),
        replace(GOOD, to=("all",)),
        replace(GOOD, to=("role:",)),
        replace(GOOD, intent="order"),
        replace(GOOD, priority=4),
        replace(GOOD, priority=-1),
        replace(GOOD, deadline_seconds=0),
        replace(GOOD, ttl_seconds=float("nan")),
        replace(GOOD, refs=("x" * 513,)),
        replace(GOOD, to=(), thread="c_1", intent="request"),
    ],
)
def test_what_can_never_be_delivered_is_refused(wrong: Sending) -> None:
    refused(wrong)
