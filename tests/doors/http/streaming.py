"""Drives one event stream as ASGI, so that it can be cut at any send."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message

from mufakat.sdk import sse
from mufakat.server.http.sse import ABORT

OnSend = Callable[[], Awaitable[None]]


@dataclass
class Reader:
    """One connection of a reader; `frames` holds what came, pings left out."""

    app: ASGIApp
    path: str = "/api/v1/events"
    query: str = "follow=1"
    headers: Mapping[str, str] = field(default_factory=dict)
    on_send: OnSend | None = None
    status: int = 0
    raw: bytes = b""
    frames: list[sse.Frame] = field(default_factory=list)
    aborted: bool = False
    ended: bool = False
    parser: sse.Parser = field(default_factory=sse.Parser)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def start(self) -> Reader:
        self.task = asyncio.create_task(self._run())
        return self

    async def _run(self) -> None:
        sent = {"host": "localhost", **self.headers}
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": self.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "root_path": "",
            "client": None,
            "server": ("localhost", 80),
            ABORT: self._abort,
        }
        await self.app(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self.on_send is not None:
            await self.on_send()
        if self.left.is_set():
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.raw += message.get("body", b"")
            self.frames += self.parser.feed(message.get("body", b""))
            self.ended = not message.get("more_body", False)
        self.came.set()

    def _abort(self) -> None:
        self.aborted = True
        self.left.set()

    async def until(self, enough: Callable[[], bool], seconds: float = 20) -> None:
        async with asyncio.timeout(seconds):
            while not enough():
                self.came.clear()
                await self.came.wait()

    async def leave(self) -> None:
        self.left.set()
        if self.task is not None:
            async with asyncio.timeout(20):
                await self.task
