"""Messages that are told by their two ends, as the store loads them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.pack import conversations as made
from mufakat.core import quote, text
from mufakat.core.pack import utterance
from mufakat.core.pack.item import Resolution

CODE = "Look:\n```python\n" + "x = 1\n" * 3_000 + "```\nThat is it.\n"


def clipped(body: str, clip: int = quote.LONG):
    """A long message as the store answers it: both ends joined, with its true length."""
    whole = made.message(5, body)
    return replace(whole, text=body[: clip * 3 // 4] + body[-(clip // 4) :])


@pytest.mark.parametrize("limit", [500, 1_500, quote.LONG])
def test_a_clipped_message_keeps_to_its_limit_and_closes_its_fence(limit: int) -> None:
    said = utterance.say(clipped(CODE), made.FENCE, resolution=Resolution.FULL, limit=limit)
    head, _, body = said.text.partition("\n")
    assert len(body) <= limit + 1
    assert "is left out" in body
    before, _, after = body.partition("…")
    assert text.open_fence(before) == ""
    assert text.open_fence(after) == ""
    assert said.text.endswith("That is it.\n\n")
    assert said.resolution is Resolution.TRIMMED


def test_the_note_stands_where_the_text_was_clipped() -> None:
    body = "a" * 20_000 + "b" * 20_000
    said = utterance.say(clipped(body), made.FENCE, resolution=Resolution.FULL)
    before, _, after = said.text.partition("… ")
    assert "b" not in before.partition("\n")[2]
    assert "a" not in after.partition(" …\n")[2]
