"""Messages that could not be sent yet: kept on disk, sent again under the same key."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST = 64 * 1024 * 1024
"""Bytes of the whole file."""


class OutboxFull(Exception):
    """The outbox has no room for more; start the server, so that it can be emptied."""

    def __init__(self) -> None:
        super().__init__((type(self).__doc__ or "").strip())


class Outbox:
    """One file of JSON lines; safe for several processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self, key: str, body: dict[str, Any]) -> None:
        """Store a message durably; raises OutboxFull."""
        line = json.dumps({"key": key, "body": body}).encode() + b"\n"
        with self._locked() as handle:
            if os.fstat(handle).st_size + len(line) > LONGEST:
                raise OutboxFull
            size = os.lseek(handle, 0, os.SEEK_END)
            # A crash may have cut the last line off: what comes after it must be one of its own.
            cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            os.write(handle, b"\n" * cut + line)
            os.fsync(handle)

    def replay(self, send: Callable[[str, dict[str, Any]], bool]) -> int:
        """Send what is kept, oldest first, until `send` answers False; answer how many are left."""
        if not self.path.exists():
            return 0
        with self._locked() as handle:
            lines = list(_lines(handle))
            left = list(lines)
            for line in lines:
                kept = _read(line)
                if kept is not None and not send(kept["key"], kept["body"]):
                    break
                left.pop(0)
            if len(left) != len(lines):
                self._replace(b"".join(left))
        return len(left)

    def __len__(self) -> int:
        if not self.path.exists():
            return 0
        with self._locked() as handle:
            return sum(1 for _ in _lines(handle))

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                # Another process may have put a new file in its place meanwhile.
                if not os.path.samestat(os.fstat(handle), self.path.stat()):
                    continue
                yield handle
                return
            finally:
                os.close(handle)

    def _replace(self, data: bytes) -> None:
        new = self.path.with_name(self.path.name + ".new")
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        new.replace(self.path)


def _lines(handle: int) -> Iterator[bytes]:
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as stream:
        # A line that a crash cut off has no end; its sender was never told that it was kept.
        yield from (line for line in stream if line.endswith(b"\n"))


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and {"key", "body"} <= found.keys() else None
