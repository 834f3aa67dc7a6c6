"""Cutting and cleaning text so that what remains is still well formed."""

from __future__ import annotations

import re
import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
WORD_JOINER = "\u2060"
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
"""A flag such as Scotland's: the one honest use of tag characters, which can spell any text."""
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2061-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_UNSAFE_OR_FLAG = re.compile(f"{_FLAG}|{_UNSAFE.pattern}")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_LOOK_BACK = 64


def clean(text: str) -> str:
    """Make a quoted text inert: escape sequences go, invisible characters are shown as <U+…>."""
    if not _UNSAFE.search(text):
        return text
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    return _UNSAFE_OR_FLAG.sub(_show, text)


def _show(found: re.Match[str]) -> str:
    # A joiner inside an emoji is part of one visible character, and so is what a flag is made of.
    char = found[0]
    if len(char) > 1:
        return char
    if char == ZERO_WIDTH_JOINER and _joins(found.string, found.start()):
        return char
    return f"<U+{ord(char):04X}>"


def _joins(text: str, at: int) -> bool:
    return 0 < at < len(text) - 1 and ord(text[at - 1]) > 0x2000 and ord(text[at + 1]) > 0x2000


def cut(text: str, limit: int) -> str:
    """The longest head of at most `limit` characters that splits no visible character."""
    return text if len(text) <= limit else text[: boundary(text, max(0, limit))]


def cut_tail(text: str, limit: int) -> str:
    """The longest tail of at most `limit` characters that splits no visible character."""
    if len(text) <= limit:
        return text
    at = len(text) - max(0, limit)
    while at < len(text) and not _starts(text, at):
        at += 1
    return text[at:]


def boundary(text: str, at: int) -> int:
    """The nearest place at or before `at` where a visible character starts."""
    for place in range(at, max(0, at - _LOOK_BACK), -1):
        if _starts(text, place) and not _inside_escape(text, place):
            return place
    return at


def _starts(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    char, before = text[at], text[at - 1]
    if char.isascii():
        return not (before == "\r" and char == "\n")
    if ZERO_WIDTH_JOINER in {before, char}:
        return False
    if _is_extender(char):
        return False
    if _is_flag(char) and _is_flag(before):
        return _flags_before(text, at) % 2 == 0
    return True


def _is_extender(char: str) -> bool:
    return (
        unicodedata.combining(char) != 0
        or unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"
        or "\udc00" <= char <= "\udfff"
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    count = 0
    while at - count > 0 and _is_flag(text[at - count - 1]):
        count += 1
    return count


def _inside_escape(text: str, at: int) -> bool:
    opened = text.rfind("\x1b", max(0, at - _LOOK_BACK), at)
    if opened < 0:
        return False
    found = _ANSI.match(text, opened)
    return found is None or found.end() > at


def head_and_tail(text: str, limit: int, *, note: str) -> str:
    """Both ends of a text in at most `limit` characters, three quarters of it the head.

    `note` stands between them; a code fence that is cut open is closed, and opened again.
    """
    if len(text) <= limit:
        return text
    room = max(0, limit - len(note) - 2 - 16)
    tail_room = room // 4
    head = cut(text, room - tail_room)
    tail = cut_tail(text, tail_room)
    fence = open_fence(head)
    close = f"\n{fence}" if fence else ""
    again = f"{fence}\n" if fence and len(_FENCE.findall(tail)) % 2 else ""
    return f"{head}{close}\n{note}\n{again}{tail}"


def open_fence(text: str) -> str:
    """The mark of the code fence that is still open at the end of `text`, or nothing."""
    opened = ""
    for mark in _FENCE.findall(text):
        if not opened:
            opened = mark
        elif mark[0] == opened[0] and len(mark) >= len(opened):
            opened = ""
    return opened[:6]


def one_line(text: str, limit: int) -> str:
    """The text on one line, cut at `limit` characters with an ellipsis."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else cut(flat, limit - 1) + "…"


def neutralise_at(text: str) -> str:
    """Keep `@path` from being read as a file: a word joiner follows every at-sign."""
    return re.sub(r"@(?=[^\s\u2060])", "@" + WORD_JOINER, text)
