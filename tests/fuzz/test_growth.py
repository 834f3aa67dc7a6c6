"""A text made to be slow is read in its time: no parser or cleaner goes over its input again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from core.pack import conversations as made
from fuzz import targets
from mufakat.core import quote, secret_tail, secrets, terminal_text, text
from mufakat.engines import failure
from mufakat.engines.cli import one_shot
from mufakat.engines.openai_compat import sse as model_sse
from mufakat.engines.process import json_line
from mufakat.engines.process import stream as pipe
from mufakat.engines.process import text as process_text
from mufakat.engines.process.command import Line
from mufakat.engines.scripted import told
from mufakat.sdk import sse as sdk_sse

SIZE = 250_000
SECONDS = 0.5
"""Of processor time: a megabyte must be in a pack within two seconds."""
MARGIN = 3
UNITS = {
    "openings": "<mufakat:a>",
    "openings of many kinds": "".join(f"<mufakat:{a}{b}>" for a in "abcdefgh" for b in "stuvw"),
    "half an opening": "<mufakat:a ",
    "sections": "<mufakat:a>x</mufakat:a>",
    "fences": made.FENCE,
    "half a fence": made.FENCE[:-1],
    "code fences": "```\n",
    "escapes without an end": "\x1b]",
    "numbers of an escape": "\x1b[1;",
    "joiners": "\u200d",
    "marks on a letter": "\u0301",
    "flags": "\U0001f1e6",
    "returns": "\r",
    "lines": "\n",
    "data lines": "data: x\n",
    "braces": "{",
    "brackets in a string": '"[',
    "backslashes": "\\",
    "key blocks": "-----BEGIN PRIVATE KEY-----\n",
    "assignments": "password=",
    "half a token": "eyJ",
    "words of a limit": "retry after ",
    "at signs": "@",
    "status words": "error 4",
}


def _sse(name: str) -> Callable[[str], object]:
    def read(value: str) -> object:
        if name == "sdk":
            return sdk_sse.Parser().feed(value.encode())
        with_limit = model_sse.Reader()
        try:
            return with_limit.feed(value.encode())
        except model_sse.TooLong:
            return None

    return read


def _lines(value: str) -> object:
    return list(pipe.Lines(SIZE * 8).feed(value.encode()))


def _claude(value: str) -> object:
    return list(one_shot.events_of(targets.PARSERS["claude"](), Line(value)))


READERS: dict[str, Callable[[str], object]] = {
    "quote.inert": lambda value: quote.inert(value, made.FENCE),
    "text.clean": text.clean,
    "text.head_and_tail": lambda value: text.head_and_tail(value, 4_000, note="cut"),
    "text.one_line": lambda value: text.one_line(value, 400),
    "text.neutralise_at": text.neutralise_at,
    "terminal_text.clean": terminal_text.clean,
    "secrets.scrub": secrets.scrub,
    "secret_tail.settled": secret_tail.settled,
    "failure.shown": failure.shown,
    "failure.of_text": lambda value: failure.of_text(value, failure.Failure.INTERNAL),
    "failure.retry_after": failure.retry_after,
    "process text.shown": process_text.shown,
    "json_line.decode": lambda value: json_line.decode('{"a":' + value),
    "json_line.decode of a string": lambda value: json_line.decode('{"a":"' + value + '"}'),
    "sdk sse": _sse("sdk"),
    "model server sse": _sse("model"),
    "lines": _lines,
    "claude's stream": _claude,
    "told.read": told.read,
}


def cost(read: Callable[[str], object], value: str) -> float:
    """Seconds of this process's own time."""
    before = time.process_time()
    read(value)
    return time.process_time() - before


@pytest.mark.parametrize("reader", READERS)
def test_row_37_a_flood_of_anything_is_read_in_its_time(reader: str) -> None:
    read = READERS[reader]
    for name, unit in UNITS.items():
        value = (unit * (SIZE // len(unit) + 1))[:SIZE]
        assert cost(read, value) < SECONDS * MARGIN, name


def test_row_37_twin_a_search_from_each_opening_would_take_minutes() -> None:
    block = re.compile(r"<mufakat:([a-z-]{1,32})(?: [^>\n]{0,200})?>.*?</mufakat:\1>", re.DOTALL)

    def naive(value: str) -> object:
        return block.sub(quote.LEFT_OUT, value)

    small, large = ("<mufakat:a>" * count for count in (1_500, 6_000))
    growth = cost(naive, large) / cost(naive, small)
    assert growth > 8
    assert cost(naive, large) * (SIZE / len(large)) ** 2 > SECONDS * MARGIN
