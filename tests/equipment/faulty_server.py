"""An HTTP server that answers by a script, faults included, and records what it was asked."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Step = Callable[[socket.socket, Asked], None]


def answer(status: int, body: Any, **headers: str) -> Step:
    """Answer with JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode()
    return lambda connection, _: connection.sendall(head + data)


def problem(status: int, code: str, **members: Any) -> Step:
    """Answer with a problem document."""
    return answer(status, {"code": code, "status": status, "detail": "why", "fix": "how"} | members)


def raw(data: bytes) -> Step:
    """Answer with these bytes, then close."""
    return lambda connection, _: connection.sendall(data)


def close(_: socket.socket, __: Asked) -> None:
    """Close without an answer, after the request was read."""


def cut(body: bytes) -> Step:
    """Promise more than is sent."""
    return raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body)


@dataclass(slots=True)
class Faulty:
    """The server; `script` is used up request by request, its last step stays."""

    script: list[Step]
    asked: list[Asked] = field(default_factory=list)
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def loop(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                request = _read(connection)
                if request is None:
                    continue
                self.asked.append(request)
                step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                try:
                    step(connection, request)
                except OSError:
                    continue


def _read(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65_536)
    method, target, _ = first.split(" ")
    return Asked(method, target, headers, body)


@contextmanager
def serving(*script: Step) -> Iterator[Faulty]:
    """Run a server while the context is open."""
    server = Faulty(list(script))
    thread = threading.Thread(target=server.loop)
    thread.start()
    try:
        yield server
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        thread.join()
