"""Carries MCP between a program's pipes and the server: one JSON message a line."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import urllib.parse
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, BinaryIO

from mufakat.sdk.client import CONNECT_SECONDS, Endpoint

PATH = "/mcp/"
SECONDS = 660.0
"""Longer than any tool waits."""
AT_ONCE = 16
UNREACHABLE = -32001
"""JSON-RPC error code of an answer that the relay itself gives."""


class Relay:
    """Hands requests to the server at `endpoint()`; several may wait at a time."""

    def __init__(self, endpoint: Callable[[], Endpoint], out: BinaryIO) -> None:
        self._endpoint = endpoint
        self._out = out
        self._turn = threading.Lock()
        self._version = ""

    def run(self, lines: Iterable[bytes]) -> None:
        """Relay until the input ends; requests that still wait are given up then."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mcp") as pool:
            for line in lines:
                message = _read(line)
                if message is None:
                    continue
                if message.get("method") == "initialize":
                    # Its answer names the version that every later request has to carry.
                    self._relay(message)
                else:
                    pool.submit(self._relay, message)

    def _relay(self, message: dict[str, Any]) -> None:
        try:
            answer = self._post(message)
        except (OSError, http.client.HTTPException, ValueError) as problem:
            answer = _error(message, f"Mufakat does not answer: {problem}. Run `mufakat up`.")
        if message.get("method") == "initialize" and isinstance(answer, dict):
            self._version = str(answer.get("result", {}).get("protocolVersion", ""))
        if answer is not None and "id" in message:
            self._write(answer)

    def _post(self, message: dict[str, Any]) -> Any:
        endpoint = self._endpoint()
        place = urllib.parse.urlsplit(endpoint.url)
        connection = http.client.HTTPConnection(
            place.hostname or "127.0.0.1", place.port, timeout=CONNECT_SECONDS
        )
        headers = {
            "Authorization": f"Bearer {endpoint.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self._version:
            headers["MCP-Protocol-Version"] = self._version
        try:
            connection.connect()
            connection.sock.settimeout(SECONDS)
            connection.request("POST", PATH, json.dumps(message).encode(), headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status == HTTPStatus.ACCEPTED:
            return None
        found = json.loads(data)
        if isinstance(found, dict) and "jsonrpc" in found:
            return found
        return _error(message, str(found.get("detail", f"HTTP {answer.status}")))

    def _write(self, answer: Any) -> None:
        data = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
        with self._turn:
            self._out.write(data)
            self._out.flush()


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        if line.strip():
            sys.stderr.write("mufakat mcp: a line is not JSON; it is left out\n")
        return None
    return found if isinstance(found, dict) else None


def _error(message: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": message.get("id"),
        "error": {"code": UNREACHABLE, "message": text},
    }
