"""Keep a run's raw output on disk, private and bounded: its head and its tail when it is long."""

import os
from contextlib import suppress
from pathlib import Path

BLOCK = 1024 * 1024


class Spool:
    """Writes to `path` (0600, a symlink refused). Above `cap` bytes the middle is left out.

    A full disk ends the spool, not the run: `why` then says what happened.
    The tail lives in a ring file beside it until `close` joins the two.
    """

    def __init__(self, path: Path, *, cap: int) -> None:
        self._path = path
        self._half = max(1, cap // 2)
        self._written = 0
        self._ring = -1
        self.why = ""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = _private(path)

    @property
    def overflowed(self) -> bool:
        """Tell whether `close` will have up to half the cap to copy."""
        return self._ring >= 0

    def write(self, chunk: bytes) -> None:
        """Append raw bytes; an error is kept in `why`."""
        if self.why or self._file < 0:
            return
        try:
            head = chunk[: max(0, self._half - self._written)]
            _write_all(self._file, head)
            if len(head) < len(chunk):
                self._write_ring(chunk[len(head) :], self._written + len(head) - self._half)
            self._written += len(chunk)
        except OSError as error:
            self.why = f"the raw output is incomplete: {error.strerror}"

    def close(self) -> None:
        """Join head and tail and close; harmless the second time."""
        file, ring = self._file, self._ring
        self._file = self._ring = -1
        try:
            if ring >= 0:
                self._join(file, ring)
        except OSError as error:
            self.why = self.why or f"the raw output is incomplete: {error.strerror}"
        finally:
            for fd in (file, ring):
                if fd >= 0:
                    os.close(fd)
            if ring >= 0:
                with suppress(OSError):
                    self._ring_path.unlink()

    @property
    def _ring_path(self) -> Path:
        return self._path.with_name(self._path.name + ".tail")

    def _write_ring(self, data: bytes, at: int) -> None:
        if self._ring < 0:
            self._ring = _private(self._ring_path)
        while data:
            place = at % self._half
            piece = data[: self._half - place]
            os.lseek(self._ring, place, os.SEEK_SET)
            _write_all(self._ring, piece)
            data = data[len(piece) :]
            at += len(piece)

    def _join(self, file: int, ring: int) -> None:
        tail = self._written - self._half
        omitted = max(0, tail - self._half)
        if omitted:
            _write_all(file, f"\n[... {omitted} bytes left out ...]\n".encode())
            turn = tail % self._half
            _copy(ring, file, start=turn, stop=self._half)
            _copy(ring, file, start=0, stop=turn)
        else:
            _copy(ring, file, start=0, stop=tail)


def _private(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    os.fchmod(fd, 0o600)
    return fd


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _copy(source: int, target: int, *, start: int, stop: int) -> None:
    while start < stop:
        block = os.pread(source, min(BLOCK, stop - start), start)
        if not block:
            return
        _write_all(target, block)
        start += len(block)
