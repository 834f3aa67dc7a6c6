"""A room's hooks over HTTP, for real CLIs; the tokens are those of the room."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from equipment.room import JOIN_TOKEN, Room
from mufakat.core.base import MufakatError
from mufakat.server.hooks import translate
from mufakat.server.hooks.call import Answer


@dataclass
class Door:
    """Where the room listens, and what it was asked."""

    room: Room
    loop: asyncio.AbstractEventLoop
    url: str = ""
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Moment and answer, in order."""

    def settle(self, home: Path) -> None:
        """Stand in a home as its running server."""
        home.mkdir(parents=True, exist_ok=True)
        record = {"pid": os.getpid(), "url": self.url, "started": "", "version": "0"}
        (home / "server.json").write_text(json.dumps(record))
        (home / "join-token").write_text(JOIN_TOKEN)

    def count(self, moment: str) -> int:
        return sum(one == moment for one, _ in self.heard)

    async def hear(self, path: str, token: str, data: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """What the engine gets, and the bearer of a session that has just joined."""
        engine, event = path.split("/")[-2:]
        by = await self.room.agents.authenticate(token)
        call = translate.read(engine, event, data)
        answer = await self.room.reception.hear(by, call) if call else Answer()
        said = translate.write(call, answer) if call else {}
        self.heard.append((event, said))
        return said, answer.bearer


@contextmanager
def serving(room: Room) -> Iterator[Door]:
    """Serve a room on a free loopback port; the room's event loop is the one that runs now."""
    state = Door(room, asyncio.get_running_loop())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(200, {"name": "mufakat", "pid": os.getpid()})

        def do_POST(self) -> None:
            data = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
            token = self.headers.get("authorization", "").removeprefix("Bearer ")
            heard = asyncio.run_coroutine_threadsafe(state.hear(self.path, token, data), state.loop)
            try:
                said, bearer = heard.result(20)
            except MufakatError as refused:
                self.reply(400, {"code": refused.code, "detail": str(refused)})
                return
            self.reply(200, said, bearer)

        def reply(self, status: int, said: dict[str, Any], bearer: str = "") -> None:
            body = json.dumps(said).encode() if said else b""
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            if bearer:
                self.send_header("X-Mufakat-Token", bearer)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
