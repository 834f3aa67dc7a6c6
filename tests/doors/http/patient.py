"""Drives one request that waits, as ASGI, so that its client can leave or be told of the end."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Message

from mufakat.server.http import api


@dataclass
class Patient:
    """A client that asks and waits."""

    door: api.Server
    path: str
    sent: dict[str, Any]
    token: str
    key: str = ""
    status: int = 0
    body: bytes = b""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    given: bool = False

    def start(self) -> Patient:
        self.task = asyncio.create_task(self._run())
        return self

    async def _run(self) -> None:
        body = json.dumps(self.sent).encode()
        fields = {
            "host": "localhost",
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
        if self.key:
            fields["idempotency-key"] = self.key
        path = f"/api/v1{self.path}"
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
            "root_path": "",
            "client": None,
            "server": ("localhost", 80),
        }
        await self.door(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self.given:
            self.given = True
            body = json.dumps(self.sent).encode()
            return {"type": "http.request", "body": body, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")

    async def waiting(self, pause: float = 0.05) -> None:
        """Let it come to where it waits; it must not have been answered by then."""
        await asyncio.sleep(pause)
        assert self.status == 0, (self.status, self.body)

    async def answer(self) -> int:
        """The status of its answer."""
        assert self.task is not None
        async with asyncio.timeout(20):
            await self.task
        return self.status

    async def leave(self) -> None:
        """Hang up, and see it end."""
        self.left.set()
        await self.answer()
