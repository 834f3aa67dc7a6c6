"""Talks to a running server over HTTP with the standard library alone."""

from __future__ import annotations

import http.client
import json
import random
import socket
import time
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mufakat.sdk import backoff, errors

API = "/api/v1"
CONNECT_SECONDS = 0.3
READ_SECONDS = 60.0
ANSWER_BYTES = 256 * 1024 * 1024
OLD = "Mufakat-Stale-Since"
"""Header of an answer that the server remembers while its database is away."""

Query = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server listens and what opens it."""

    url: str
    token: str = field(default="", repr=False)
    pid: int = 0
    version: str = ""


@dataclass(slots=True)
class Client:
    """Sends requests; every failure is a `ServerError`.

    `find` answers where the server is now: it is asked after a lost connection, because a
    server that was started again listens on another port. `old` hears since when an answer is
    old, where it is: the server's database is away then.
    """

    endpoint: Endpoint
    find: Callable[[], Endpoint | None] | None = None
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random
    old: Callable[[str], None] | None = None

    def get(
        self,
        path: str,
        query: Query | None = None,
        *,
        again: bool = True,
        seconds: float = READ_SECONDS,
    ) -> Any:
        """Read a resource; with `again` retried when the server fails or the answer is lost."""
        send = self._try if again else self._once
        return send("GET", _target(path, query), b"", headers={}, seconds=seconds)

    def post(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        key: str = "",
        again: bool = True,
        seconds: float = READ_SECONDS,
    ) -> Any:
        """Send a command; retried under one Idempotency-Key, so that it has effect once.

        `again=False` is for commands whose second sending would have a second effect.
        """
        return self._change("POST", path, body, key=key, again=again, seconds=seconds)

    def put(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        again: bool = True,
        seconds: float = READ_SECONDS,
    ) -> Any:
        """Set a resource to what is given; the second sending changes nothing more."""
        return self._change("PUT", path, body, key="", again=again, seconds=seconds)

    def delete(self, path: str, *, again: bool = True, seconds: float = READ_SECONDS) -> Any:
        """Remove a resource."""
        return self._change("DELETE", path, None, key="", again=again, seconds=seconds)

    def _change(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        *,
        key: str,
        again: bool,
        seconds: float,
    ) -> Any:
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": key or new_key(),
        }
        # Escaped, a text in another script than Latin would be up to twice its size.
        data = json.dumps(body or {}, ensure_ascii=False).encode("utf-8", "backslashreplace")
        send = self._try if again else self._once
        return send(method, _target(path, None), data, headers=headers, seconds=seconds)

    def open(
        self, path: str, query: Query | None, headers: Mapping[str, str], *, seconds: float
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Start reading a stream, in one try; the caller closes the connection.

        `seconds` bounds each wait for more bytes. Raises ServerError.
        """
        connection, answer = self._send(
            "GET", _target(path, query), b"", headers=headers, seconds=seconds
        )
        if answer.status == 200:
            return connection, answer
        try:
            raise errors.from_answer(answer.status, answer.read(1024 * 1024))
        except (OSError, http.client.HTTPException) as problem:
            raise errors.Unreachable(f"The answer was cut off: {problem}") from problem
        finally:
            connection.close()

    def relocate(self) -> None:
        """Ask where the server is now, after a connection was lost."""
        found = self.find() if self.find else None
        if found is not None:
            self.endpoint = found

    def _try(
        self, method: str, target: str, body: bytes, *, headers: Mapping[str, str], seconds: float
    ) -> Any:
        for failures in range(1, backoff.TRIES + 1):
            try:
                return self._once(method, target, body, headers=headers, seconds=seconds)
            except errors.ServerError as problem:
                if failures == backoff.TRIES or not problem.retryable:
                    raise
                self.sleep(backoff.pause(failures, self.draw, asked=problem.retry_after))
                if isinstance(problem, errors.Unreachable):
                    self.relocate()
        raise AssertionError("unreachable")

    def _once(
        self, method: str, target: str, body: bytes, *, headers: Mapping[str, str], seconds: float
    ) -> Any:
        connection, answer = self._send(method, target, body, headers=headers, seconds=seconds)
        try:
            data = answer.read(ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as problem:
            raise errors.Unreachable(f"The answer was cut off: {problem}") from problem
        finally:
            connection.close()
        if answer.status >= 300:
            raise _refusal(answer, data)
        since = answer.getheader(OLD, "")
        if since and self.old is not None:
            self.old(since)
        try:
            return json.loads(data) if data else None
        except ValueError as problem:
            raise errors.Unreachable("The answer is not JSON.") from problem

    def _send(
        self, method: str, target: str, body: bytes, *, headers: Mapping[str, str], seconds: float
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        place = urllib.parse.urlsplit(self.endpoint.url)
        connection = http.client.HTTPConnection(
            place.hostname or "127.0.0.1", place.port, timeout=CONNECT_SECONDS
        )
        try:
            connection.connect()
            stream: socket.socket = connection.sock
            stream.settimeout(seconds)
            connection.request(method, target, body or None, self._headers() | dict(headers))
            return connection, connection.getresponse()
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            why = str(problem) or type(problem).__name__
            raise errors.Unreachable(f"No answer from {self.endpoint.url}: {why}.") from problem

    def _headers(self) -> dict[str, str]:
        token = self.endpoint.token
        return {"Accept": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )


def new_key() -> str:
    """A fresh Idempotency-Key."""
    return uuid.uuid4().hex


def _target(path: str, query: Query | None) -> str:
    wanted = {name: value for name, value in (query or {}).items() if value != ""}
    tail = f"?{urllib.parse.urlencode(wanted)}" if wanted else ""
    return f"{API}{path}{tail}"


def _refusal(answer: http.client.HTTPResponse, data: bytes) -> errors.ServerError:
    problem = errors.from_answer(answer.status, data)
    wish = answer.getheader("Retry-After", "")
    if wish.isdigit():
        problem.retry_after = float(wish)
    return problem
