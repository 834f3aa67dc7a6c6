"""Session files read within limits: lines too long, files too large and broken JSON cost little."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

LARGEST = 64 * 1024 * 1024
"""Bytes of one file that are read; what is behind them is not."""
LONGEST_LINE = 4 * 1024 * 1024
HEAD = 512 * 1024
"""Bytes that are read of a file to tell whose session it is."""
MOST = 2_000
"""Files of one CLI that are looked at, the newest ones."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Unreadable(Exception):
    """A file that is no session file; the words say why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a session."""

    path: Path
    mtime: int
    """Milliseconds since 1970."""


def newest(folder: Path, *patterns: str) -> list[Found]:
    """Regular files that fit, newest first; links are left where they are."""
    found: list[Found] = []
    for pattern in patterns:
        for path in folder.glob(pattern):
            try:
                kind = path.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISREG(kind.st_mode):
                found.append(Found(path, kind.st_mtime_ns // 1_000_000))
    return sorted(found, key=lambda one: (-one.mtime, str(one.path)))[:MOST]


def lines(path: Path, *, limit: int = LARGEST) -> Iterator[bytes]:
    """The whole lines within the first `limit` bytes; raises Unreadable."""
    try:
        handle = os.open(path, _OPEN)
    except OSError as problem:
        raise Unreadable(problem.strerror or "cannot be opened") from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unreadable("it is no regular file")
    with os.fdopen(handle, "rb") as file:
        taken, skipping = 0, False
        while taken < limit:
            line = file.readline(min(LONGEST_LINE, limit - taken) + 1)
            taken += len(line)
            if not line:
                return
            whole = line.endswith(b"\n")
            if not skipping and (whole or len(line) <= LONGEST_LINE):
                yield line
            skipping = not whole


def records(path: Path, *, limit: int = LARGEST) -> Iterator[Mapping[str, Any]]:
    """The JSON records of a file with one a line; lines that are none are passed over."""
    for line in lines(path, limit=limit):
        found = parsed(line)
        if isinstance(found, dict):
            yield found


def whole(path: Path) -> Mapping[str, Any]:
    """A file that is one JSON record; raises Unreadable."""
    data = b"".join(lines(path))
    found = parsed(data)
    if not isinstance(found, dict):
        raise Unreadable("it is not one JSON record")
    return found


def parsed(data: bytes | str) -> object:
    """The JSON value, None where there is none."""
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found


def millis(text: object) -> int:
    """An ISO 8601 time, or milliseconds, as milliseconds; 0 for anything else."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text if 0 < text < 1 << 53 else 0
    if not isinstance(text, str):
        return 0
    try:
        return int(datetime.fromisoformat(text[:40]).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0


def inside(folder: str, root: Path) -> bool:
    """Whether a session of `folder` belongs to the project at `root`."""
    if folder[:1] != "/" or "\0" in folder:
        return False
    place = Path(os.path.normpath(folder))
    return place == root or root in place.parents
