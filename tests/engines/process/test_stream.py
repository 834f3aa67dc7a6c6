"""Lines out of chunks: the same whatever the chunking, and always storable."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mufakat.engines.process import stream, text
from mufakat.engines.process.command import Line, Oversize

PIECES = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"a", b"\0", "é".encode(), "汉".encode(), "😀".encode(), b"\xff",
     b"\xed\xa0\x80", b"\xc3", b"\xe2\x80\xa8", b"\x85", b"\x0b\x0c\x1c", b"x" * 9, b"{}"]
)  # fmt: skip
INPUTS = st.lists(PIECES, max_size=12).map(b"".join)


def split(chunks: list[bytes], cap: int = 1 << 20) -> list[Line]:
    lines = stream.Lines(cap)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    rest = lines.finish()
    return [*found, rest] if rest else found


def reference(data: bytes) -> list[str]:
    """Split with nothing of the code under test."""
    parts = data.split(b"\n")
    if not parts[-1]:
        parts.pop()
    return [
        part.removesuffix(b"\r").decode("utf-8", "replace").replace("\0", "\u2400")
        for part in parts
    ]


@given(INPUTS)
@example(b"\r")
@example(b"a\r\r\n\r\n\n")
@settings(max_examples=300)
def test_q8_all_split_points_give_the_lines_of_the_whole(data: bytes) -> None:
    whole = split([data])
    assert [line.text for line in whole] == reference(data)
    for at in range(len(data) + 1):
        assert split([data[:at], data[at:]]) == whole
    assert split([bytes([byte]) for byte in data]) == whole


@given(INPUTS, st.integers(0, 12), st.lists(st.integers(0, 60), max_size=5))
def test_x4_oversize_does_not_depend_on_chunks(data: bytes, cap: int, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(data)]
    chunks = [data[start:stop] for start, stop in zip(edges, edges[1:], strict=False)]
    chunks.append(data[max(edges) :])
    assert b"".join(chunks) == data
    found = split(chunks, cap)
    assert found == split([data], cap)
    parts = data.split(b"\n")
    for part, line in zip(parts, found, strict=False):
        known = Oversize(len(part), hashlib.sha256(part).hexdigest())
        assert line.oversize == (known if len(part) > cap else None)


def test_x5_only_lf_ends_a_line() -> None:
    inside = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh"
    assert split([inside.encode() + b"\r\nnext\n"]) == [Line(inside), Line("next")]


def test_x5_a_twin_that_uses_splitlines_tears_a_line() -> None:
    raw = '{"text":"one\u2028two"}\n'
    assert len(raw.splitlines()) == 2
    assert len(split([raw.encode()])) == 1


def test_x4_memory_stays_below_the_limit_of_a_run() -> None:
    lines = stream.Lines(8 << 20)
    chunk = b"x" * stream.CHUNK
    tracemalloc.start()
    try:
        for _ in range(1600):
            list(lines.feed(chunk))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 16 << 20
    line = lines.finish()
    assert line is not None
    assert line.oversize is not None
    assert line.oversize.size == 1600 * stream.CHUNK


@given(st.text(st.characters(exclude_categories=())))
def test_storable_text_can_be_encoded_and_holds_no_nul(raw: str) -> None:
    clean = text.storable(raw)
    clean.encode()
    assert "\0" not in clean
    assert len(clean) == len(raw)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\x1b[1;31mred\x1b[m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]52;c;aGk=\x1b\\x", "x"),
        ("\x9b31mred\x9d0;t\x9cx", "redx"),
        ("\x1bPdata\x1b\\x", "x"),
        ("\x1b(Bx\x1b7y\x1bc", "xy"),
        ("safe\rover\r\nnext", "safe\nover\nnext"),
        ("a\x08b\x7fc\x00d", "abc\u2400d"),
        ("\u202eevil\u2066", "evil"),
        ("tab\tstays\n", "tab\tstays\n"),
        ("\x1b[38;5", ""),
        ("\x1b]never ended\nnext line", "\nnext line"),
    ],
)
def test_case_050_control_sequences_are_not_shown(raw: str, clean: str) -> None:
    assert text.shown(raw) == clean
