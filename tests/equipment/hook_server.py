"""A tiny HTTP server for the hook client: it records requests and answers as it is told."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Asked:
    """A request as it arrived."""

    path: str
    token: str
    body: Any


@dataclass
class HookServer:
    """What the server answers, and what it was asked."""

    url: str = ""
    answer: bytes = b""
    status: int = 200
    hang: threading.Event = field(default_factory=threading.Event)
    bearer: str = ""
    """Lent to the session with the answer."""
    silent: bool = False
    """Accept and read, but never answer."""
    pid: int = field(default_factory=os.getpid)
    asked: list[Asked] = field(default_factory=list)

    def settle(self, home: Path, token: str = "join-token-of-a-test") -> None:
        """Stand in a home as its running server."""
        home.mkdir(parents=True, exist_ok=True)
        record = {"pid": os.getpid(), "url": self.url, "started": "", "version": "0"}
        (home / "server.json").write_text(json.dumps(record))
        (home / "join-token").write_text(token + "\n")

    @property
    def hooks(self) -> list[Asked]:
        """What came to the hook door."""
        return [one for one in self.asked if "/hooks/" in one.path]


@contextmanager
def running() -> Iterator[HookServer]:
    """Serve on a free loopback port until the block ends."""
    state = HookServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(Asked(self.path, self.headers.get("authorization", ""), None))
            self.reply(200, json.dumps({"name": "mufakat", "pid": state.pid}).encode())

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", "0"))
            body = json.loads(self.rfile.read(size))
            state.asked.append(Asked(self.path, self.headers.get("authorization", ""), body))
            if state.silent:
                state.hang.wait(30)
                return
            self.reply(state.status, state.answer)

        def reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            if state.bearer:
                self.send_header("X-Mufakat-Token", state.bearer)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{listener.server_address[1]}"
    serving = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield state
    finally:
        state.hang.set()
        listener.shutdown()
        serving.join()
        listener.server_close()
