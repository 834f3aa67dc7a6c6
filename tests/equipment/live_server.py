"""A real server process that a test kills and starts again; ended by its pid."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from equipment import start_server
from mufakat.sdk import discovery

API = "/api/v1"
STARTS = 90.0
"""Seconds that a start may take on a machine that does much else."""
ANSWERS = 30.0
POLICY = "acquires_per_second = 10000\nburst = 10000\n[classes.normal]\nleases = 1000\n"
"""Tests ask for leases faster than agents may."""


class Lost(Exception):
    """The request was sent and no answer came: nobody knows whether it had its effect."""


class Away(Exception):
    """Nobody listens, so the request has not even been sent."""


@dataclass
class LiveServer:
    """The server of one home, over all its lives."""

    home: Path
    changes: Sequence[str] = ()
    """What `start_server` changes in it."""
    environ: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    port: int = 0
    """Where it listens now; 0 while it does not."""

    def start(self) -> None:
        """Start it and wait until it answers."""
        program = [sys.executable, start_server.__file__, ",".join(self.changes)]
        with (self.home / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [*program, "--home", str(self.home), "up", "--port", "0"],
                env={**os.environ, **self.environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        end = time.monotonic() + STARTS
        while (found := discovery.find(self.home)) is None or found.pid != self.process.pid:
            assert self.process.poll() is None, (self.home / "output").read_text()[-3000:]
            assert time.monotonic() < end, "the server did not come up"
            time.sleep(0.05)
        self.port = urlsplit(found.url).port or 0

    def kill(self) -> None:
        """End it without a word."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGTERM)

    def die_at(self, point: str, number: int) -> None:
        """Start it so that it kills itself at a point, and see it end there."""
        armed = self.home / start_server.ARMED
        before, self.changes = self.changes, (*self.changes, f"die={point}:{number}")
        try:
            self.start()
        finally:
            self.changes = before
        armed.touch()
        assert self.process is not None
        assert self.process.wait(STARTS) == -signal.SIGKILL
        self.port, self.process = 0, None
        armed.unlink()

    def _end(self, number: int) -> None:
        self.port = 0
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def secret(self, name: str) -> str:
        """A token that lies in the home."""
        return (self.home / name).read_text("ascii").strip()

    def operator(self) -> Caller:
        return Caller(self, self.secret("token"))

    def join(self, engine: str, **more: Any) -> Caller:
        """Let an agent join."""
        joiner = Caller(self, self.secret("join-token"))
        status, record = joiner.ask("POST", "/agents", {"engine": engine, **more})
        joiner.hang_up()
        assert status in {200, 201}, record
        return Caller(self, record["token"], record)


@dataclass
class Caller:
    """Who asks with one token over one connection, each question once and never again by itself."""

    server: LiveServer
    token: str
    record: dict[str, Any] = field(default_factory=dict)
    connection: http.client.HTTPConnection | None = None

    @property
    def identity(self) -> str:
        return str(self.record["identity"])

    def ask(
        self, method: str, path: str, body: Any = None, *, key: str = "", **query: Any
    ) -> tuple[int, Any]:
        """Status and answer; raises Lost or Away."""
        connection = self._connected()
        headers = {"Authorization": f"Bearer {self.token}"}
        headers |= {"Idempotency-Key": key} if key else {}
        data = None if body is None else json.dumps(body).encode()
        headers |= {"Content-Type": "application/json"} if data is not None else {}
        target = f"{API}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            self.hang_up()
            raise Lost(str(problem)) from problem
        return answer.status, json.loads(raw) if raw else None

    def insist(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str = "",
        over: threading.Event | None = None,
    ) -> tuple[int, Any]:
        """Ask until there is an answer, over the server's death; for what may be asked again.

        Raises Away where nobody answers any more and it is over.
        """
        end = time.monotonic() + STARTS
        while True:
            try:
                status, found = self.ask(method, path, body, key=key)
            except (Lost, Away):
                status, found = 0, None
            if status not in {0, 503}:
                return status, found
            if over is not None and over.is_set():
                raise Away
            assert time.monotonic() < end, (method, path, found)
            time.sleep(0.05)

    def hang_up(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _connected(self) -> http.client.HTTPConnection:
        port = self.server.port
        if self.connection is not None and self.connection.port != port:
            self.hang_up()
        if self.connection is None:
            if not port:
                raise Away
            made = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS)
            try:
                made.connect()
            except OSError as problem:
                raise Away from problem
            # Head and body are two writes; the second must not wait for the first one's answer.
            made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection = made
        return self.connection


@contextmanager
def serving(home: Path, *changes: str, **environ: str) -> Iterator[LiveServer]:
    """A server in a fresh home."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "policy.toml").write_text(POLICY)
    server = LiveServer(home, changes, environ)
    server.start()
    try:
        yield server
    finally:
        server.kill()


class Workers:
    """Threads that end together; what one of them raised is raised by `join`."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._raised: list[BaseException] = []

    def add(self, work: Any, *given: Any) -> None:
        """Run `work` until it ends by itself, which it should do when `over` is set."""
        thread = threading.Thread(target=self._run, args=(work, given))
        self._threads.append(thread)
        thread.start()

    def _run(self, work: Any, given: tuple[Any, ...]) -> None:
        try:
            work(*given)
        except BaseException as raised:  # noqa: BLE001 - raised again by whoever joins
            self._raised.append(raised)
            self.over.set()

    def join(self) -> None:
        """Tell them to end, and wait for it."""
        self.over.set()
        for thread in self._threads:
            thread.join(180)
        if self._raised:
            raise self._raised[0]
        assert not any(thread.is_alive() for thread in self._threads)
