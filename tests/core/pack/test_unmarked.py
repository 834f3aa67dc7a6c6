"""An answer in pieces: what is shown is the answer without its markers, and nothing waits long."""

from __future__ import annotations

import random
import time

import pytest

from mufakat.core.pack import pull
from mufakat.core.pack.unmarked import Unmarked

NONCE = "00112233445566aa"
OTHER = "0123456789abcdef"


def mark(query: str = "x", nonce: str = NONCE) -> str:
    return pull.marker(nonce, "skill", query)


def shown(text: str, size: int, nonce: str = NONCE) -> str:
    seen = Unmarked(nonce)
    parts = [seen.take(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*parts, seen.end()])


LINES = (
    "",
    "One.",
    mark(),
    mark("a longer one "),
    f"{mark()} \t",
    f"{mark()} and more",
    f" {mark()}",
    f"> {mark()}",
    mark(nonce=OTHER),
    mark(nonce=NONCE[:-1]),
    mark(" "),
    mark("y" * 401),
    f"{mark()}{' ' * 41}",
    "<!--mufakat:",
    f"<!--mufakat:{NONCE}:",
    f"<!--mufakat:{NONCE}:{'z' * 2_000}",
    "```",
    "````sh",
    "~~~",
    "   ```",
    "```" + " " * 1_200 + "x",
)


def test_any_answer_in_any_pieces_comes_to_the_answer_without_markers() -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(1_500):
        text = "\n".join(chance.choices(LINES, k=chance.randint(1, 8)))
        size = chance.choice((1, 2, 5, 40, 10_000))
        whole = pull.without_markers(text, NONCE)
        told = shown(text, size)
        if whole == text:
            assert told == text
        else:
            # What stood in front of the first marker was shown before there was one.
            assert told.strip("\n") == whole.strip("\n")
            assert not told.endswith("\n")


def test_twin_another_nonce_shows_it() -> None:
    assert mark() in shown(f"One.\n{mark()}", 3, OTHER)


@pytest.mark.parametrize(
    "begin", ["One", "<", "<!--", f"<!--mufakat:{OTHER}", "\n\nTwo", "<!--m x"]
)
def test_only_what_may_become_a_marker_waits(begin: str) -> None:
    seen = Unmarked(NONCE)
    waits = f"<!--mufakat:{NONCE}:".startswith(begin)
    assert seen.take(begin) == ("" if waits else begin)


def test_a_marker_that_never_ends_is_let_go() -> None:
    seen = Unmarked(NONCE)
    text = f"<!--mufakat:{NONCE}:skill:" + "q" * pull.LINE_CHARS
    assert seen.take(text) == text


def test_a_code_block_ends_with_its_message() -> None:
    seen = Unmarked(NONCE)
    parts = [seen.take("```\nleft open"), seen.take(f"\n\n{mark()}\nTwo.", begins=True)]
    assert "".join([*parts, seen.end()]) == "```\nleft open\n\nTwo."
    one = Unmarked(NONCE)
    assert mark() in one.take(f"```\nleft open\n\n{mark()}\nTwo.")


def test_a_megabyte_in_small_pieces_takes_linear_time() -> None:
    began = time.monotonic()
    shown(("word " * 2_000 + "\n" + mark() + "\n") * 100, 20)
    assert time.monotonic() - began < 6
