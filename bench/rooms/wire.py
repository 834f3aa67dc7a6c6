"""HTTP by hand over one kept connection: what a client costs must not be what is measured."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SECONDS = 120.0
CHUNK = 2**18


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str = "",
    more: Mapping[str, str] | None = None,
) -> bytes:
    """The bytes of one request; `more` are further lines of its head."""
    data = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(data)}"]
    if token:
        head.append(f"Authorization: Bearer {token}")
    if data:
        head.append("Content-Type: application/json")
    head += [f"{name}: {value}" for name, value in (more or {}).items()]
    return "\r\n".join([*head, "", ""]).encode() + data


class Line:
    """One connection, which has one request under way at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connect()

    def _connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self._port), SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._data = b""

    def refresh(self) -> None:
        """Connect again where the server has hung up: some do so after seconds of silence."""
        ready, _, _ = select.select([self.socket], [], [], 0)
        if ready:
            self.close()
            self._connect()

    def ask(self, asked: bytes) -> Answer:
        """Send a request and wait for its answer."""
        self.refresh()
        self.send(asked)
        while (answer := self.take()) is None:
            pass
        return answer

    def send(self, asked: bytes) -> None:
        self.socket.sendall(asked)

    def take(self) -> Answer | None:
        """Read what has come; the answer where it is complete."""
        got = self.socket.recv(CHUNK)
        if not got:
            raise ConnectionError("the server hung up")
        self._data += got
        head, ended, rest = self._data.partition(b"\r\n\r\n")
        if not ended:
            return None
        size = _length(head)
        if len(rest) < size:
            return None
        self._data = rest[size:]
        return Answer(int(head[9:12]), rest[:size])

    def close(self) -> None:
        self.socket.close()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    if head[9:12] == b"204":
        return 0
    raise ConnectionError(f"an answer without a length: {head[:200]!r}")
