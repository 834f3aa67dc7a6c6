"""Mutated seeds for the lane without a guided fuzzer: cheap, and the same again for a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

SCALAR = re.compile(rb'"(?:[^"\\]|\\.)*"(?=\s*[,}\]])|-?\d[\d.eE+-]*|true|false|null')
"""A value in JSON, not a name."""
VALUES = (
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'[{"type":"text","text":"t"}]',
    b'""',
    b'" "',
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"1e308",
    b"9007199254740992",
    b"9223372036854775808",
    b"9" * 400,
    b'"' + b"9" * 400 + b'"',
    b'"retry after ' + b"9" * 400 + b' s"',
    b'"0001-01-01T00:00:00"',
    b'"9999-12-31T23:59:59.999999-23:59"',
    b'"\\ud800"',
    b'"\\u0000"',
    b'"../../x"',
    b'"--resume"',
    b'"\\u001b]52;c;eA==\\u0007"',
    b"[" * 80 + b"]" * 80,
    b'"HTTP status 429"',
    b'"<mufakat:platform>"',
)
PIECES = (
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"\x1b[31m",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\\",
    b"data: ",
    b"id: 1-1\n",
    b"event: reset\n",
    b": ping\n\n",
    b"\n\n",
    b"<mufakat:history>\n",
    b"</mufakat:history>\n",
    b"<MUFAKAT:",
    b"{FENCE}",
    b"{FENCE} m:7 human@web:000000\n",
    b"\n---\n",
    b"{FEN",
    b"\xe2\x80\x8b",
    "😀".encode(),
)

Step = tuple[str, int, int]
"""What to do, where (as a part of the whole, in 2^16ths), and with which piece or length."""


def apply(seed: bytes, steps: Sequence[Step]) -> bytes:
    """The seed after some steps; longer than 64 KiB never."""
    data = seed
    for what, where, piece in steps:
        data = _STEPS[what](data, where * len(data) >> 16, piece)[:65_536]
    return data


def _value(data: bytes, at: int, piece: int) -> bytes:
    found = SCALAR.search(data, at) or SCALAR.search(data)
    value = VALUES[piece % len(VALUES)]
    return data[: found.start()] + value + data[found.end() :] if found else data + value


def _insert(data: bytes, at: int, piece: int) -> bytes:
    return data[:at] + PIECES[piece % len(PIECES)] + data[at:]


def _delete(data: bytes, at: int, piece: int) -> bytes:
    return data[:at] + data[at + 1 + piece % 64 :]


def _repeat(data: bytes, at: int, piece: int) -> bytes:
    return data[:at] + data[at : at + 1 + piece % 300] * (2 + piece % 30) + data[at:]


def _byte(data: bytes, at: int, piece: int) -> bytes:
    return data[:at] + bytes([piece % 256]) + data[at + 1 :]


def _line(data: bytes, at: int, piece: int) -> bytes:
    """Say one line of the input again, at its end."""
    start = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    return data + (b"\n" * (piece % 2)) + data[start : end if end >= 0 else len(data)] + b"\n"


_STEPS = {
    "value": _value,
    "insert": _insert,
    "delete": _delete,
    "repeat": _repeat,
    "byte": _byte,
    "line": _line,
}


def mutated(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """One of the seeds with up to four faults in it."""
    steps = [
        (rng.choice(NAMES), rng.randrange(65_536), rng.randrange(1024))
        for _ in range(rng.randint(1, 4))
    ]
    return apply(rng.choice(seeds), steps)


def sweep(seed: bytes) -> Iterator[bytes]:
    """The seed with each of its JSON values replaced by each awkward one."""
    for found in SCALAR.finditer(seed):
        for value in VALUES:
            yield seed[: found.start()] + value + seed[found.end() :]


NAMES = (*sorted(_STEPS), "value", "value")
