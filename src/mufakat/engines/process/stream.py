"""Bytes of a pipe in bounded chunks, and lines out of them that do not depend on the chunking."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator
from typing import IO

from mufakat.engines.process import text
from mufakat.engines.process.command import Line, Oversize

CHUNK = 64 * 1024
HEAD = 4 * 1024


class Lines:
    """Splits on LF only and takes one CR off; Unicode line separators stay inside a line.

    At most `cap` bytes are held. Of a longer line the head, the size and the hash are kept.
    """

    def __init__(self, cap: int, *, stderr: bool = False) -> None:
        self._cap = cap
        self._stderr = stderr
        self._reset()

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Yield the lines that `chunk` completes; must be read to its end before the next call."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._add(chunk[start:end])
            yield self._take()
            start = end + 1
        self._add(chunk[start:])

    def finish(self) -> Line | None:
        """Return the rest after the last LF, if there is any."""
        return self._take() if self._size else None

    def _reset(self) -> None:
        self._held = bytearray()
        self._size = 0
        self._hash: hashlib._Hash | None = None

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._hash is not None:
            self._hash.update(piece)
            return
        self._held += piece
        if self._size > self._cap:
            self._hash = hashlib.sha256(self._held)
            self._held = self._held[: min(HEAD, self._cap)]

    def _take(self) -> Line:
        held, size, digest = self._held, self._size, self._hash
        self._reset()
        if digest is not None:
            return Line(_decode(held), Oversize(size, digest.hexdigest()), self._stderr)
        if held.endswith(b"\r"):
            del held[-1:]
        return Line(_decode(held), None, self._stderr)


class Pipe:
    """Our end of a pipe, read or written without blocking the event loop."""

    def __init__(self, file: IO[bytes]) -> None:
        os.set_blocking(file.fileno(), False)
        self._file = file
        self._ended = False
        self._waiting: asyncio.Future[None] | None = None
        self._remove: Callable[[], object] | None = None

    async def read(self) -> bytes:
        """Return the next bytes, at most `CHUNK`; empty at the end."""
        while not self._ended:
            try:
                return os.read(self._file.fileno(), CHUNK)
            except BlockingIOError:
                await self._ready(write=False)
        return b""

    async def write(self, data: bytes) -> None:
        """Write all of `data`, or as much as the reader takes before it goes away."""
        rest = memoryview(data)
        while rest and not self._ended:
            try:
                rest = rest[os.write(self._file.fileno(), rest[:CHUNK]) :]
            except BlockingIOError:
                await self._ready(write=True)
            except BrokenPipeError:
                return

    def end(self) -> None:
        """Let a waiting reader or writer go on as if the other side had closed."""
        self._ended = True
        self._wake()

    def close(self) -> None:
        """Close the descriptor; harmless the second time."""
        self.end()
        self._unwatch()
        self._file.close()

    async def _ready(self, *, write: bool) -> None:
        loop = asyncio.get_running_loop()
        fd = self._file.fileno()
        add, remove = (
            (loop.add_writer, loop.remove_writer)
            if write
            else (loop.add_reader, loop.remove_reader)
        )
        self._waiting = loop.create_future()
        add(fd, self._wake)
        # Kept for `close`: once closed, the number may already belong to somebody else's file.
        self._remove = lambda: remove(fd)
        try:
            await self._waiting
        finally:
            self._unwatch()

    def _unwatch(self) -> None:
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _decode(raw: bytearray) -> str:
    return text.storable(raw.decode("utf-8", "replace"))
