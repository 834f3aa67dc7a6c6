"""The open event streams of a server: so many and no more, and all of them end with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from mufakat.server.http.refusal import TooManyStreams


class Streams:
    """Counts streams; there is one token, so there is one count."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.open = 0
        self.closing = asyncio.Event()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place while a stream is open; raises TooManyStreams where none is left."""
        if self.open >= self.limit:
            raise TooManyStreams(f"{self.open} event streams of this token are open already.")
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1

    def close(self) -> None:
        """End every stream; their readers come back to the next server with their cursors."""
        self.closing.set()
