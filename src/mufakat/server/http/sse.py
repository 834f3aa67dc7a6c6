"""An event stream that misses nothing and tells nothing twice, however often it is cut."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mufakat.core.base import LoggedEvent, Revision
from mufakat.server.http import problem, tail, views
from mufakat.server.http.cursor import Log
from mufakat.server.http.limits import Limits
from mufakat.server.http.refusal import TooManyStreams
from mufakat.server.http.streams import Streams, left
from mufakat.services.feed import Feed

log = logging.getLogger(__name__)

MEDIA = "text/event-stream"
PING = b": ping\n\n"
ABORT = "mufakat.abort"
"""Scope entry: ends the connection at once, unsent bytes and all."""


def frame(event: str, wire_id: str, data: Mapping[str, Any]) -> bytes:
    """One event as bytes; its data are one line, whatever the texts in them hold."""
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {wire_id}\nevent: {event}\ndata: {line}\n\n".encode("utf-8", "replace")


class Stuck(Exception):
    """The reader takes nothing."""


class EventStream(Response):
    """Follows the log from a cursor until the reader leaves or the server ends."""

    media_type = MEDIA

    def __init__(
        self,
        feed: Feed,
        after: Revision,
        *,
        log: Log,
        wanted: tail.Wanted,
        streams: Streams,
        limits: Limits,
        credential: str = "",
        reset: bool = False,
        while_open: AbstractAsyncContextManager[None] | None = None,
    ) -> None:
        super().__init__()
        self.status_code = 200
        self.feed = feed
        self.log = log
        self.wanted = wanted
        self.streams = streams
        self.limits = limits
        self.credential = credential
        self.reset = reset
        self.while_open = while_open or nullcontext()
        """Entered before the first byte, left when the reader has gone."""
        self.cursor = after
        self.told = after
        """The newest revision whose id the reader has seen."""
        self.written = 0.0
        self.moved = 0.0
        """Loop times of the last bytes, and of the last id."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self.streams.place(self.credential):
                async with self.while_open:
                    await self._stream(scope, receive, send)
        except TooManyStreams as full:
            await problem.answer(full).send(send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        media = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": media})
        follow = asyncio.create_task(self._follow(send))
        ends = [
            follow,
            asyncio.create_task(left(receive)),
            asyncio.create_task(self.streams.closing.wait()),
        ]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        await self._finish(follow, scope, send)

    async def _finish(self, follow: asyncio.Task[None], scope: Scope, send: Send) -> None:
        failure = None if follow.cancelled() else follow.exception()
        if self.streams.closing.is_set() and failure is None:
            failure = await self._last_words(send)
        if isinstance(failure, Stuck):
            log.warning("an event stream was cut: its reader takes nothing")
            scope.get(ABORT, _nothing)()
        elif failure is not None:
            raise failure
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _last_words(self, send: Send) -> Stuck | None:
        """Tell what was logged until the server's end, such as how a turn was cancelled."""
        _, head = await self.feed.head()
        try:
            while await self._look(send, head):
                continue
        except Stuck as stuck:
            return stuck
        return None

    async def _follow(self, send: Send) -> None:
        now = asyncio.get_running_loop().time()
        self.written = self.moved = now
        head = self.log.head
        if self.reset:
            place = {"head": self.log.wire(head)}
            await self._write(send, frame("reset", self.log.wire(head), place))
        else:
            await self._write(send, PING)
        while True:
            if not await self._look(send, head):
                head = await self.feed.wait(self.cursor, seconds=self._patience())

    async def _look(self, send: Send, head: Revision) -> bool:
        """Read one page and tell it; answers whether there may be more.

        The cursor moves after the bytes are out: cut at any point, nothing was passed over.
        """
        read = await tail.read(self.feed, self.cursor, head=head, wanted=self.wanted)
        await self._tell(send, read.events, read.reached)
        self.cursor = read.reached
        return read.more

    async def _tell(self, send: Send, events: Sequence[LoggedEvent], reached: Revision) -> None:
        now = asyncio.get_running_loop().time()
        if events:
            epoch = self.log.epoch
            rows = (views.event(event, epoch) for event in events)
            await self._write(send, b"".join(frame(row["kind"], row["id"], row) for row in rows))
            self.told, self.moved = events[-1].revision, now
        elif self._owes_progress(reached, now):
            await self._write(send, frame("progress", self.log.wire(reached), {}))
            self.told, self.moved = reached, now
        elif now - self.written >= self.limits.ping_seconds:
            await self._write(send, PING)

    def _owes_progress(self, reached: Revision, now: float) -> bool:
        skipped = reached - self.told
        late = now - self.moved >= self.limits.progress_seconds
        return skipped >= self.limits.progress_events or (skipped > 0 and late)

    def _patience(self) -> float:
        now = asyncio.get_running_loop().time()
        until = self.written + self.limits.ping_seconds
        if self.cursor > self.told:
            until = min(until, self.moved + self.limits.progress_seconds)
        return max(0.0, until - now)

    async def _write(self, send: Send, data: bytes) -> None:
        try:
            async with asyncio.timeout(self.limits.stuck_seconds):
                await send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError as late:
            raise Stuck from late
        self.written = asyncio.get_running_loop().time()


def _nothing() -> None:
    """Stand in for the abort of a connection where there is none."""
