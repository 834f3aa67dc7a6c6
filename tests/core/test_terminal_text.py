"""Text from agents cannot act on a terminal, nor hide there, however it arrives in pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core import terminal_text

CASES: dict[str, tuple[str, str]] = {
    "plain text": ("Grüße, 世界 👩\u200d💻\n\tend", "Grüße, 世界 👩\u200d💻\n\tend"),
    "colour": ("\x1b[31mred\x1b[0m", "red"),
    "cursor movement and erasing": ("a\x1b[2J\x1b[1;1Hb\x1b[Kc", "abc"),
    "private mode": ("\x1b[?1049hx\x1b[?25l", "x"),
    "clipboard by OSC 52, ended by BEL": ("a\x1b]52;c;cm0gLXJm\x07b", "ab"),
    "clipboard by OSC 52, ended by ST": ("a\x1b]52;c;cm0gLXJm\x1b\\b", "ab"),
    "title": ("\x1b]0;root@host\x07ok", "ok"),
    "hyperlink": ("\x1b]8;;http://evil\x1b\\safe\x1b]8;;\x1b\\", "safe"),
    "DCS, APC, PM, SOS": ("\x1bPq#0\x1b\\a\x1b_G\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d", "abcd"),
    "8-bit CSI": ("\x9b31mred\x9b0m", "red"),
    "8-bit OSC": ("a\x9d52;c;eA==\x9cb", "ab"),
    "other C1": ("a\x84b\x8dc", "a<U+0084>b<U+008D>c"),
    "next line, line and paragraph separator": ("a\x85b\u2028c\u2029d", "a\nb\nc\nd"),
    "overwriting by a carriage return": ("rm -rf /\rls       ", "rm -rf /\nls       "),
    "line ends of Windows": ("a\r\nb\r\n", "a\nb\n"),
    "backspaces": ("rm\b\bls", "rm<U+0008><U+0008>ls"),
    "bell, NUL and delete": ("\x07a\0b\x7f", "<U+0007>a<U+0000>b<U+007F>"),
    "bidi override": ("a\u202egnp.exe", "a<U+202E>gnp.exe"),
    "bidi isolates": ("\u2066a\u2069\u200f", "<U+2066>a<U+2069><U+200F>"),
    "zero width": ("pass\u200bword\ufeff", "pass<U+200B>word<U+FEFF>"),
    "tag characters": ("a\U000e0041", "a<U+E0041>"),
    "lone surrogate": ("a\ud800b", "a\ufffdb"),
    "charset switch and reset": ("\x1b(0lqk\x1bc\x1b7\x1b8", "lqk"),
    "sequence inside a sequence": ("\x1b\x1b[0m[31mx", "<U+001B>[31mx"),
    "string that never ends": ("a\x1b]0;the rest", "a<U+001B>]0;the rest"),
    "string that a line ends": ("\x1b]0;hidden\nshown\x07", "<U+001B>]0;hidden\nshown<U+0007>"),
    "CSI that never ends": ("a\x1b[12;", "a<U+001B>[12;"),
}
HARMFUL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

noise = st.text(
    st.one_of(
        st.sampled_from("\x1b\x9b\x9d\x9c\x07[]()0;12mHPX^_\\\r\n\b\u202e\u200bab"),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize("name", CASES)
def test_row_50_case(name: str) -> None:
    given_text, shown = CASES[name]
    assert terminal_text.clean(given_text) == shown


@given(noise)
def test_row_50_nothing_harmful_is_left(text: str) -> None:
    cleaned = terminal_text.clean(text)
    assert not HARMFUL.search(cleaned)
    assert terminal_text.clean(cleaned) == cleaned


def piece_by_piece(pieces: list[str], *, hold: bool = True) -> str:
    shown, held = "", ""
    for piece in pieces:
        part, held = terminal_text.clean_piece(held, piece)
        shown += part
        if not hold:
            shown, held = shown + terminal_text.clean(held), ""
    return shown + terminal_text.clean(held)


@given(noise, st.lists(st.integers(0, 60), max_size=6))
def test_a_stream_in_pieces_reads_like_the_whole(text: str, cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(text)})
    pieces = [text[a:b] for a, b in zip(places, places[1:], strict=False)]
    assert piece_by_piece(pieces) == terminal_text.clean(text)


def test_every_cut_of_every_case() -> None:
    for text, shown in CASES.values():
        for at in range(len(text) + 1):
            assert piece_by_piece([text[:at], text[at:]]) == shown
        assert piece_by_piece(list(text)) == shown


def test_twin_without_holding_back_a_cut_sequence_leaks() -> None:
    text, shown = CASES["clipboard by OSC 52, ended by BEL"]
    leaks = [piece_by_piece([text[:at], text[at:]], hold=False) for at in range(len(text))]
    assert any(leak != shown for leak in leaks)


def test_what_is_held_back_is_bounded() -> None:
    shown, held = terminal_text.clean_piece("", "\x1b]0;" + "x" * 1_000_000)
    assert len(held) <= terminal_text.STRING_LIMIT + 8
    assert len(shown) > 900_000


@pytest.mark.parametrize("unit", ["\x1b]", "\x9dx", "\x9b0"])
def test_a_flood_of_beginnings_costs_little(unit: str) -> None:
    # A quadratic search would run into the timeout of the test.
    flood = unit * (500_000 // len(unit))
    assert not HARMFUL.search(terminal_text.clean(flood))
    shown, held = terminal_text.clean_piece("", flood)
    assert len(held) <= terminal_text.STRING_LIMIT + 8
    assert shown
