"""A loopback stand-in that behaves as Slack's endpoints do, faults included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mufakat.server.http import chat_keys

BOT = "B0MUFAKAT"
TOKEN = "xoxb-for-a-test"
SIGNING = "signing-secret-of-a-test"
TEAM = "T1"


@dataclass
class Workspace:
    """What stands in the channels, and what goes wrong next."""

    url: str = ""
    posts: list[dict[str, Any]] = field(default_factory=list)
    """In order; each with its `ts`."""
    faults: list[str] = field(default_factory=list)
    """What the next requests meet: `429`, `500`, `lost`, `ok:false ERROR`, `400 WORD`."""
    tried: list[dict[str, Any]] = field(default_factory=list)
    """Every request that arrived, whatever became of it."""
    tells_stamps: bool = True
    """An API method answers with the stamp, an incoming webhook with `ok`."""
    remembers: bool = True
    """Posts that are sent again under one `client_msg_id` stand once."""
    retry_after: str = "0"
    _stamp: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def stamp(self) -> str:
        """The next message's stamp."""
        with self._lock:
            self._stamp += 1
            return f"1700000000.{self._stamp:06d}"

    def keep(self, payload: dict[str, Any]) -> str:
        """Let a post stand in its channel; answers its stamp."""
        with self._lock:
            for one in self.posts:
                if self.remembers and one.get("client_msg_id") == payload.get("client_msg_id"):
                    return str(one["ts"])
        stamp = self.stamp()
        with self._lock:
            self.posts.append({**payload, "ts": stamp})
        return stamp

    def texts(self) -> list[str]:
        return [one["text"] for one in self.posts]

    def find(self, words: str) -> dict[str, Any]:
        """The one post that holds some words."""
        (found,) = [one for one in self.posts if words in one["text"]]
        return found

    def echo(self, post: dict[str, Any]) -> dict[str, Any]:
        """The event by which the chat tells us of our own post."""
        event = {
            "type": "message",
            "subtype": "bot_message",
            "bot_id": BOT,
            "channel": post["channel"],
            "text": post["text"],
            "ts": post["ts"],
            "metadata": post["metadata"],
        }
        if "thread_ts" in post:
            event["thread_ts"] = post["thread_ts"]
        return _envelope(event)

    def says(self, channel: str, user: str, text: str, **more: Any) -> dict[str, Any]:
        """The event of a person's message."""
        stamp = more.pop("ts", None) or self.stamp()
        event = {"type": "message", "channel": channel, "user": user, "text": text, "ts": stamp}
        return _envelope(event | more)


def _envelope(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "event_callback",
        "team_id": TEAM,
        "event_id": f"Ev{event['ts']}",
        "event": event,
    }


def signed(payload: dict[str, Any], *, at: float | None = None, secret: str = SIGNING) -> Any:
    """Body and headers as the chat sends them."""
    body = json.dumps(payload).encode()
    stamp = str(int(time.time() if at is None else at))
    headers = {
        "content-type": "application/json",
        chat_keys.STAMP: stamp,
        chat_keys.SIGNATURE: chat_keys.sign(secret, stamp, body),
    }
    return body, headers


class Desk(ThreadingHTTPServer):
    """The server, and the workspace behind it."""

    daemon_threads = True
    workspace: Workspace


class Handler(BaseHTTPRequestHandler):
    server: Desk

    def do_POST(self) -> None:
        workspace = self.server.workspace
        payload = json.loads(self.rfile.read(int(self.headers["content-length"])))
        payload["authorization"] = self.headers.get("authorization", "")
        payload["key"] = self.headers.get("idempotency-key", "")
        workspace.tried.append(payload)
        fault = workspace.faults.pop(0) if workspace.faults else ""
        self._meet(fault, payload)

    def _meet(self, fault: str, payload: dict[str, Any]) -> None:
        workspace = self.server.workspace
        match fault.split(" ", 1):
            case ["429"]:
                self._answer(429, "slow down", {"retry-after": workspace.retry_after})
            case ["500"]:
                self._answer(503, "out of order")
            case ["lost"]:
                workspace.keep(payload)
                self.close_connection = True
            case ["ok:false", error]:
                self._answer(200, json.dumps({"ok": False, "error": error}))
            case [("400" | "404") as status, error]:
                self._answer(int(status), error)
            case _:
                stamp = workspace.keep(payload)
                told = json.dumps({"ok": True, "ts": stamp})
                self._answer(200, told if workspace.tells_stamps else "ok")

    def _answer(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def running() -> Iterator[Workspace]:
    """A workspace behind a port of its own."""
    server = Desk(("127.0.0.1", 0), Handler)
    server.workspace = Workspace(f"http://127.0.0.1:{server.server_port}/api/chat.postMessage")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.workspace
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
