"""Mufakat under measure, through its HTTP door, on either store."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.process import ROOT
from bench.rooms import room, start_mufakat
from bench.rooms.load import Refused, Steps, drive
from bench.rooms.room import ACK, BODY, CLIENTS, GATE, LEASE, READ, SEND, UNREAD, Room
from bench.rooms.wire import Line, request
from mufakat import __version__
from mufakat.sdk import discovery

API = "/api/v1"
POLICY = (
    "acquires_per_second = 10000\nburst = 10000\n"
    "[classes.normal]\nleases = 1000\n[high_traffic]\ndepth_on = 1000\n"
)
PYTHON = room.PEERS / "ours" / "bin" / "python"
"""Mufakat without the packages of its tests, as `scripts/bench` installs it."""
FILLERS = 32
AT_ONCE = 200


class Mufakat(Room):
    """A server, and agents that joined it."""

    version = __version__

    def __init__(self, name: str, *, store: str = "") -> None:
        super().__init__()
        self.name = name
        self._store = store
        self.agents: dict[str, dict[str, Any]] = {}
        self.home = Path()
        self.project = Path()

    def open(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir(mode=0o700)
        self.project.mkdir()
        (self.home / "policy.toml").write_text(POLICY, "utf-8")
        argv = [str(PYTHON), "-m", start_mufakat.__name__, "--home", str(self.home)]
        store = {"MUFAKAT_STORE": self._store} if self._store else {}
        self.start([*argv, "up", "--port", "0"], folder, {"PYTHONPATH": str(ROOT), **store})
        self.port = self._found()
        self.connect()
        join = (self.home / "join-token").read_text("ascii").strip()
        for kind in "srt":
            for client in range(CLIENTS):
                name = f"{kind}{client}"
                body = {"engine": "bench", "session": name, "project": str(self.project)}
                self.agents[name] = self.ask("POST", f"{API}/agents", body, token=join)
        for client in range(CLIENTS):
            for _ in range(UNREAD):
                self.ask(*self._letter(client, "r"), **self._head(f"s{client}", key=True))

    def _found(self) -> int:
        until = time.monotonic() + room.START_SECONDS
        while (found := discovery.find(self.home)) is None:
            assert self.process is not None and self.process.poll() is None, "Mufakat ended"
            assert time.monotonic() < until, "Mufakat does not answer"
            time.sleep(0.1)
        return urlsplit(found.url).port or 0

    def _head(self, name: str, *, key: bool = False) -> dict[str, Any]:
        more = {"Idempotency-Key": f"bench-{self.number()}"} if key else None
        return {"token": self.agents[name]["token"], "more": more}

    def _letter(self, client: int, kind: str) -> tuple[str, str, dict[str, Any]]:
        to = self.agents[f"{kind}{client}"]["identity"]
        return "POST", f"{API}/messages", {"to": [to], "body": f"{self.number()} {BODY}"}

    def steps(self, what: str, client: int) -> Steps:
        if what == LEASE:
            return (yield from self._pair(client))
        answer = yield self._request(what, client)
        Refused.unless(answer.status in {200, 201}, answer)
        return True

    def _request(self, what: str, client: int) -> bytes:
        if what == SEND:
            return request(*self._letter(client, "t"), **self._head(f"s{client}", key=True))
        if what == READ:
            path = f"{API}/inbox?open=1&limit={UNREAD}"
            return request("GET", path, **self._head(f"r{client}"))
        body: dict[str, Any]
        if what == GATE:
            body = {"session": f"s{client}", "turn": f"turn-{self.number()}"}
            return request("POST", f"{API}/gate", body, **self._head(f"s{client}"))
        assert what == ACK
        body = {"numbers": [self.stock[client].popleft()]}
        return request("POST", f"{API}/inbox/ack", body, **self._head(f"t{client}"))

    def _acquire(self, client: int, name: str, *, ttl: int) -> bytes:
        body = {"resources": [f"file:{self.project}/src/{name}.py"], "ttl": ttl}
        return request("POST", f"{API}/leases", body, **self._head(f"s{client}", key=True))

    def _pair(self, client: int) -> Steps:
        answer = yield self._acquire(client, f"m{self.number()}", ttl=60)
        Refused.unless(answer.status == 201, answer)
        lease = answer.json()
        body = {"fence": next(iter(lease["fences"].values()))}
        path = f"{API}/leases/{lease['id']}/release"
        answer = yield request("POST", path, body, **self._head(f"s{client}"))
        Refused.unless(answer.status == 200, answer)
        return True

    def claim(self, client: int, name: str) -> Steps:
        answer = yield self._acquire(client, name, ttl=5)
        Refused.unless(answer.status in {201, 409}, answer)
        return answer.status == 201

    def unread(self, client: int) -> Sequence[int]:
        path = f"{API}/inbox?open=1&limit={AT_ONCE}"
        found = self.ask("GET", path, **self._head(f"t{client}"))
        return [one["number"] for one in found["items"]]

    def listed(self) -> str:
        more = {"Accept": "application/json, text/event-stream"}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        token = self.agents["s0"]["token"]
        found = self.ask("POST", "/mcp/", asked, token=token, more=more)
        return json.dumps(found["result"]["tools"])

    def hold(self, count: int) -> None:
        """Let the clients hold so many leases for the rest of the run."""
        for number in range(count):
            body = {"resources": [f"file:{self.project}/held/{number}/**"], "ttl": 86_400}
            client = f"s{number % CLIENTS}"
            self.ask("POST", f"{API}/leases", body, **self._head(client, key=True))

    def fill(self, count: int) -> float:
        """Let so many messages be sent and read; answers the seconds that it took."""
        began, left = time.perf_counter(), [count]

        def source(client: int) -> Any:
            def once() -> Steps | None:
                left[0] -= 1
                return self.steps(SEND, client) if left[0] >= 0 else None

            return once

        lines = [Line(self.port) for _ in range(FILLERS)]
        sources = [source(number % CLIENTS) for number in range(FILLERS)]
        found = drive(lines, sources, seconds=3600)
        assert not found.failed, found.why
        for line in lines:
            line.close()
        for client in range(CLIENTS):
            self._clear(client)
        return time.perf_counter() - began

    def _clear(self, client: int) -> None:
        """Acknowledge all that a client was sent."""
        while numbers := self.unread(client):
            body = {"numbers": list(numbers)}
            self.ask("POST", f"{API}/inbox/ack", body, **self._head(f"t{client}"))
