"""HTTP by hand over a socket, for what no client library would send."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from mufakat.server.main import Ready


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back; `closed` tells whether the server hung up by itself."""

    raw: bytes
    closed: bool
    sent: int

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1]) if self.raw.startswith(b"HTTP/1.1 ") else 0

    @property
    def head(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[0].lower()

    @property
    def json(self) -> Any:
        return json.loads(self.raw.partition(b"\r\n\r\n")[2])


def connect(server: Ready) -> socket.socket:
    place = urlsplit(server.url)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=5)


def exchange(
    server: Ready, pieces: Iterable[bytes], *, pause: float = 0, seconds: float = 10
) -> Heard:
    """Send pieces until they end or the server hangs up, then read until it does."""
    sent = 0
    with connect(server) as link:
        for piece in pieces:
            try:
                link.settimeout(2)
                link.sendall(piece)
            except OSError:
                break
            sent += len(piece)
            if pause:
                time.sleep(pause)
        raw, closed = _read(link, seconds)
    return Heard(raw, closed, sent)


def _read(link: socket.socket, seconds: float) -> tuple[bytes, bool]:
    raw, end = b"", time.monotonic() + seconds
    with contextlib.suppress(TimeoutError):
        while (left := end - time.monotonic()) > 0:
            link.settimeout(left)
            try:
                piece = link.recv(65_536)
            except ConnectionError:
                return raw, True
            if not piece:
                return raw, True
            raw += piece
    return raw, False


def one_answer(link: socket.socket) -> bytes:
    """Read one answer off a connection that stays open."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += _some(link)
    found = re.search(rb"(?i)content-length: (\d+)", raw)
    size = raw.index(b"\r\n\r\n") + 4 + int(found[1] if found else 0)
    while len(raw) < size:
        raw += _some(link)
    return raw


def _some(link: socket.socket) -> bytes:
    link.settimeout(10)
    piece = link.recv(65_536)
    assert piece, "the server hung up"
    return piece


def request(server: Ready, line: str, *fields: str, body: bytes = b"", auth: bool = True) -> bytes:
    """The bytes of a request with the right Host and token."""
    head = [line, f"Host: {urlsplit(server.url).netloc}", *fields]
    if auth:
        head.append(f"Authorization: Bearer {server.token}")
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def client(server: Ready) -> httpx.Client:
    headers = {"authorization": f"Bearer {server.token}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=20, verify=False)


def head(server: Ready) -> str:
    """The store's head, which any effect would move."""
    with client(server) as http:
        return str(http.get("/api/v1/status").json()["head"])
