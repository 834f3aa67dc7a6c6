"""The open streams and waiting requests of a server: so many and no more, and all end with it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from starlette.types import Receive

from mufakat.core.base import Unavailable
from mufakat.server.http.refusal import TooManyStreams

T = TypeVar("T")


class Streams:
    """Counts what each credential holds open."""

    def __init__(self, limit: int, *, closing: asyncio.Event | None = None) -> None:
        self.limit = limit
        self.closing = closing or asyncio.Event()
        self._held: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """How many are open in all."""
        return self._held.total()

    @contextmanager
    def place(self, credential: str) -> Iterator[None]:
        """Hold a place while it is open; raises TooManyStreams where none is left."""
        if self._held[credential] >= self.limit:
            raise TooManyStreams(f"{self.limit} of this token are open already.")
        self._held[credential] += 1
        try:
            yield
        finally:
            self._held[credential] -= 1
            # Credentials come and go as long as the server lives.
            if not self._held[credential]:
                del self._held[credential]

    async def attend(
        self, credential: str, receive: Receive, work: Callable[[], Awaitable[T]]
    ) -> T:
        """Do what may take long, as long as the client waits for it; else it is cancelled.

        Raises TooManyStreams, and Unavailable where the client left or the server ends.
        """
        with self.place(credential):
            doing = asyncio.ensure_future(work())
            ends = [
                doing,
                asyncio.create_task(left(receive)),
                asyncio.create_task(self.closing.wait()),
            ]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for end in ends:
                    end.cancel()
                await asyncio.gather(*ends, return_exceptions=True)
        if doing.cancelled():
            raise Unavailable("The server ends.", fix="Ask the next one again.")
        return doing.result()

    def close(self) -> None:
        """End all of them; readers come back to the next server with their cursors."""
        self.closing.set()


async def left(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
