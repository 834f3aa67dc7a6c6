"""The sending side of one connection: whole documents, chunks, and every way to break off."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

NOW = struct.pack("ii", 1, 0)  # linger 0 s: close by RST instead of FIN


class Wire:
    """Writes to the client of one handler; every wait ends early when the server closes."""

    def __init__(self, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self._handler = handler
        self._closing = closing

    def document(
        self, status: int, payload: object, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send one JSON document."""
        data = json.dumps(payload, ensure_ascii=False).encode()
        self._head(status, {"content-length": str(len(data)), **(headers or {})})
        self._handler.wfile.write(data)

    def half_document(self, payload: object) -> None:
        """Announce a JSON document, send half of it and hang up."""
        data = json.dumps(payload, ensure_ascii=False).encode()
        self._head(200, {"content-length": str(len(data))})
        self._handler.wfile.write(data[: len(data) // 2])
        self.hang_up()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self._handler.send_response(status)
        self._handler.send_header("content-type", "application/json")
        for key, value in headers.items():
            self._handler.send_header(key, value)
        self._handler.end_headers()

    def open_stream(self) -> None:
        """Start an event stream in chunked encoding."""
        self._handler.send_response(200)
        self._handler.send_header("content-type", "text/event-stream")
        self._handler.send_header("cache-control", "no-cache")
        self._handler.send_header("transfer-encoding", "chunked")
        self._handler.end_headers()

    def event(self, name: str | None, data: dict[str, Any]) -> None:
        """Send one server-sent event."""
        head = f"event: {name}\n" if name else ""
        self.chunk(f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode())

    def chunk(self, data: bytes) -> None:
        """Send one chunk; an empty one ends the stream."""
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self._handler.wfile.flush()

    def pause(self, seconds: float) -> None:
        """Wait between two events."""
        if seconds:
            self._closing.wait(seconds)

    def silence(self, seconds: float) -> None:
        """Send nothing until the client leaves, the server closes or the time is over."""
        end = time.monotonic() + seconds
        self._handler.connection.settimeout(seconds)
        try:
            still_there = self._handler.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return
        if still_there:  # it talks on: nothing to wait for on the socket
            self._closing.wait(max(0.0, end - time.monotonic()))

    def hang_up(self) -> None:
        """End the connection in the middle of whatever was sent."""
        self._handler.close_connection = True
        try:
            self._handler.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the client was faster

    def reset(self) -> None:
        """End the connection by a TCP reset."""
        self._handler.close_connection = True
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOW)
        socket.close(connection.detach())
