"""Sentences of a message: cut apart, without code blocks and without what it quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mufakat.core import quote
from mufakat.core import text as texts

LONGEST = 320
"""Characters of one; a longer one is cut at its end."""
MOST = 400
"""Of one message; no message is searched without end."""
CHARS = 32_000
"""Of one message that are looked at."""

_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_TROUBLE = re.compile(
    r"\b(?:\w*(?:error|exception|panic|fatal|traceback)\w*|failed|exit code)\b", re.I
)
_QUOTED = re.compile(r"^\s*(?:>|\[fence\]|\S{1,80}@\S{1,80} m:\d+)")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|\|)\s+")
_MARKUP = re.compile(r"[*_]{2,3}|(?<!\w)[*](?=\w)|(?<=\w)[*](?!\w)")
_END = re.compile(r"(?<=[.!?…])[\"')\]”’]{0,3}\s+(?=\S)|(?<=[。！？])(?=\S)")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|mr|mrs|ms|dr|prof|vs|etc|approx|st)\.$", re.I)


def split(text: str) -> Iterator[str]:
    """Each sentence on one line, at most `MOST`."""
    count = 0
    for line in _CODE.sub(_trouble, text[:CHARS]).split("\n"):
        if _QUOTED.match(line) or quote.LEFT_OUT in line:
            continue
        for part in _parts(_MARKUP.sub("", _BULLET.sub("", line))):
            yield texts.one_line(part, LONGEST)
            count += 1
            if count >= MOST:
                return


def _parts(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if _ABBREVIATION.search(line[max(0, end.start() - 8) : end.start()]):
            continue
        yield line[start : end.start()]
        start = end.end()
    if line[start:].strip():
        yield line[start:]


def _trouble(block: re.Match[str]) -> str:
    """Of a block of code only the lines that tell of an error."""
    kept = [line.strip() for line in block[2].split("\n") if _TROUBLE.search(line)]
    return "\n".join(kept[:2]) + "\n"
