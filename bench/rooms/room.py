"""A room for agents under measure: a server, eight clients, and the operations it knows."""

from __future__ import annotations

import os
import subprocess
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.meter import Meter
from bench.process import ROOT
from bench.rooms import load
from bench.rooms.load import Load, Source, Steps
from bench.rooms.wire import Line, request

SEND, READ, ACK, LEASE, GATE, CONTEND = "send", "read", "ack", "lease", "gate", "contend"
TIMED = (SEND, READ, ACK, LEASE, GATE)
CLIENTS = 8
UNREAD = 20
"""Messages in the inbox of each that reads."""
RESOURCES = 10
"""That all clients want at once."""
BODY = "The port of the test server is 8123, and the schema has one more column. " * 4
START_SECONDS = 120.0
CONTEND_SECONDS = 300.0
PEERS = ROOT / ".peers"


class Room(ABC):
    """Eight that send, eight that read, eight that acknowledge: sX sends to rX and to tX."""

    name = ""
    version = ""
    knows: frozenset[str] = frozenset((*TIMED, CONTEND))

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.stock: list[deque[Any]] = [deque() for _ in range(CLIENTS)]
        """What each client has to acknowledge yet."""
        self.contended = (0, 0)
        """Granted and refused."""
        self._lines: list[Line] = []
        self._count = 0

    def number(self) -> int:
        """Another one each time."""
        self._count += 1
        return self._count

    @abstractmethod
    def open(self, folder: Path) -> None:
        """Start it, let everybody join, and fill the inboxes of those that read."""

    @abstractmethod
    def steps(self, what: str, client: int) -> Steps:
        """One operation of one client."""

    @abstractmethod
    def unread(self, client: int) -> Sequence[Any]:
        """What the client may acknowledge."""

    @abstractmethod
    def listed(self) -> str:
        """The list of tools as an agent is given it, as JSON; empty where there is none."""

    @property
    def pid(self) -> int:
        """Of the server; 0 where there is none."""
        return self.process.pid if self.process else 0

    def start(self, argv: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        """Start the server's process; what it prints goes into a file of the folder."""
        with (folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                argv,
                cwd=folder,
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def connect(self) -> None:
        """Give each client its connection, once the server listens."""
        until = time.monotonic() + START_SECONDS
        while not self._lines:
            assert self.process is None or self.process.poll() is None, f"{self.name} ended"
            assert time.monotonic() < until, f"{self.name} does not answer"
            try:
                self._lines = [Line(self.port) for _ in range(CLIENTS)]
            except OSError:
                time.sleep(0.2)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str = "",
        more: Mapping[str, str] | None = None,
    ) -> Any:
        """One question outside the measure."""
        answer = self._lines[0].ask(request(method, path, body, token=token, more=more))
        load.Refused.unless(answer.status < 300, answer)
        return answer.json() if answer.body else None

    def run(self, what: str, clients: int, seconds: float) -> Load | None:
        """Measure some seconds of an operation; None where there is no such thing."""
        if what not in self.knows:
            return None
        if what == ACK:
            self.stock = [deque(self.unread(client)) for client in range(CLIENTS)]
        sources = [self._source(what, client) for client in range(clients)]
        return self.metered(lambda: load.drive(self._lines[:clients], sources, seconds=seconds))

    def contend(self) -> Load:
        """All clients want the same ten things, one after the other, each once."""
        first = self.number()
        sources = [self._each(client, first) for client in range(CLIENTS)]
        found = load.drive(self._lines, sources, seconds=CONTEND_SECONDS)
        granted, refused = self.contended
        self.contended = (granted + found.granted, refused + len(found.took) - found.granted)
        return found

    def metered(self, work: Any) -> Load:
        """Do it with an eye on the server's processor."""
        meter = Meter(self.pid)
        meter.start()
        found: Load = work()
        found.server = meter.stop()[0].cpu
        return found

    def _source(self, what: str, client: int) -> Source:
        def once() -> Steps | None:
            if what == ACK and not self.stock[client]:
                return None
            return self.steps(what, client)

        return once

    def _each(self, client: int, first: int) -> Source:
        left = deque(range(RESOURCES))

        def once() -> Steps | None:
            return self.claim(client, f"{first}-{left.popleft()}") if left else None

        return once

    def claim(self, client: int, name: str) -> Steps:
        """Ask for one thing once; whether it was granted is the result."""
        raise NotImplementedError

    @property
    def memory(self) -> float:
        """What the server holds in memory, MiB."""
        text = Path(f"/proc/{self.pid}/status").read_text("ascii")
        line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def close(self) -> None:
        """Hang up, and end the process."""
        for line in self._lines:
            line.close()
        self._lines = []
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
