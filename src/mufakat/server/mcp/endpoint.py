"""The MCP endpoint as the server sees it: the protocol is loaded at its first call."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from mufakat.app import App

PATHS = ("/mcp", "/mcp/")
_DOOR = "mufakat.server.mcp.door"


class Endpoint:
    """Starts the door at the first call, in a task of its own; `close` ends it."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._starting: asyncio.Future[ASGIApp] | None = None
        self._closing = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._starting is None:
            starting = self._starting = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(starting))
            self._running.add_done_callback(lambda task: _failed(task, starting))
        door = await asyncio.shield(self._starting)
        await door(scope, receive, send)

    async def close(self) -> None:
        """End the door and wait for its end."""
        self._closing.set()
        if self._running is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._running

    async def _run(self, started: asyncio.Future[ASGIApp]) -> None:
        # The protocol's library takes a second to load: the other doors go on meanwhile.
        module = await asyncio.to_thread(importlib.import_module, _DOOR)
        door: Any = module.Door(self._app)
        async with door.running():
            started.set_result(door)
            await self._closing.wait()


def _failed(running: asyncio.Task[None], started: asyncio.Future[ASGIApp]) -> None:
    if not started.done() and not running.cancelled():
        started.set_exception(running.exception() or RuntimeError("the MCP door did not open"))
