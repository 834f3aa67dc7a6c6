"""Sorting failures by status and by the engine's own words."""

from __future__ import annotations

import pytest

from mufakat.core.talk import turn
from mufakat.core.talk.turn import Failure
from mufakat.engines import failure


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("unexpected status 401 Unauthorized: x", Failure.LOGIN),
        ("API Error: 529 Overloaded", Failure.OVERLOADED),
        ('{"error":{"code":429,"message":"x"}}', Failure.RATE_LIMIT),
        ("exceeded retry limit, last status: 429 Too Many Requests", Failure.RATE_LIMIT),
        ("Invalid API key · Please run /login", Failure.LOGIN),
        ("Not logged in", Failure.LOGIN),
        ("No conversation found with session ID: x", Failure.SESSION_LOST),
        ("Error: Session not found", Failure.SESSION_LOST),
        ("prompt is too long: 250000 tokens > 200000 maximum", Failure.TOO_LONG),
        ("The server took too long to respond: request timed out", Failure.NETWORK),
        ("fetch failed: ECONNREFUSED", Failure.NETWORK),
        ("We're currently experiencing high demand", Failure.OVERLOADED),
        ("You've hit your usage limit. Try again in 20s", Failure.RATE_LIMIT),
        ("Unexpected token < in JSON", Failure.MALFORMED),
        ("something else", Failure.INTERNAL),
        ("line 500 of the file is odd", Failure.INTERNAL),
    ],
)
def test_words_point_to_a_class(words: str, kind: Failure) -> None:
    assert failure.of_text(words, Failure.INTERNAL) is kind


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please retry in 32.5s.", 32.5),
        ("try again in 500ms", 0.5),
        ("Rate limited, retry after 3 minutes", 180.0),
        ("retry after 30 milliseconds", 0.03),
        ("Usage limit reached, try again in 2 hours", 7200.0),
        ("try again later", None),
        ("no hint", None),
    ],
)
def test_a_wait_is_read_where_it_is_named(words: str, seconds: float | None) -> None:
    assert failure.retry_after(words) == seconds


def test_a_json_error_is_shown_as_its_sentence() -> None:
    assert failure.shown('{"error": {"message": "prompt is too long"}}') == "prompt is too long"
    assert failure.shown('{"odd": 1}') == '{"odd": 1}'
    assert len(failure.shown("x" * 10_000)) == failure.SHOWN


def test_every_class_has_advice() -> None:
    assert set(turn.ADVICE) == set(Failure)
