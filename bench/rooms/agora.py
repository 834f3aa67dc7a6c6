"""agorahub under measure, through its hub's HTTP door."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rooms.load import Refused, Steps
from bench.rooms.room import ACK, BODY, CLIENTS, GATE, LEASE, PEERS, READ, SEND, UNREAD, Room
from bench.rooms.wire import request
from equipment.postgres import free_port

ADMIN = "bench"
CHANNEL = "room"
RATE = "1000000000"
"""Messages a minute, so that its limit is out of the way."""


class Agora(Room):
    """A hub, and seats in one public channel."""

    name = "agorahub"
    version = "0.17.4"

    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[str, str] = {}
        self.home = Path()

    @property
    def env(self) -> dict[str, str]:
        """Where its programs find everything."""
        return {"HOME": str(self.home), "AGORA_HOME": str(self.home), "AGORA_ADMIN_KEY": ADMIN}

    def open(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.port = free_port()
        argv = [self.program("agora"), "up", "--port", str(self.port), "--home", str(self.home)]
        self.start([*argv, "--rate-per-minute", RATE], folder, self.env)
        self.connect()
        for kind in "srt":
            for client in range(CLIENTS):
                name = f"{kind}{client}"
                found = self.ask("POST", "/agents", {"id": name}, token=ADMIN)
                self._keys[name] = found["api_key"]
        body: dict[str, Any] = {"name": CHANNEL, "private": False}
        self.ask("POST", "/channels", body, token=self._keys["s0"])
        for name in list(self._keys)[1:]:
            self.ask("POST", f"/channels/{CHANNEL}/join", {}, token=self._keys[name])
        for client in range(CLIENTS):
            for _ in range(UNREAD):
                self.ask(*self._letter(client, "r"), token=self._keys[f"s{client}"])

    def program(self, name: str) -> str:
        """Where one of its commands is."""
        return str(PEERS / "agora" / "bin" / name)

    def _letter(self, client: int, kind: str) -> tuple[str, str, dict[str, Any]]:
        body = {"title": f"letter {self.number()}", "body": BODY}
        return "POST", f"/dms/{kind}{client}/messages", body

    def steps(self, what: str, client: int) -> Steps:
        if what == LEASE:
            return (yield from self._pair(client))
        answer = yield self._request(what, client)
        Refused.unless(answer.status == 200, answer)
        return True

    def _request(self, what: str, client: int) -> bytes:
        if what == SEND:
            return request(*self._letter(client, "t"), token=self._keys[f"s{client}"])
        if what == READ:
            # With this line it answers without a notice for outdated clients.
            more = {"X-Agora-Client": self.version}
            return request("GET", "/inbox", token=self._keys[f"r{client}"], more=more)
        if what == GATE:
            return request("GET", "/owed", token=self._keys[f"s{client}"])
        assert what == ACK
        channel, number = self.stock[client].popleft()
        body = {"cursors": {channel: number}}
        return request("POST", "/inbox/ack", body, token=self._keys[f"t{client}"])

    def _claim(self, client: int, name: str, owner: bool, version: int) -> bytes:
        body = {"value": {"owner": f"s{client}"} if owner else None, "expect_version": version}
        path = f"/channels/{CHANNEL}/store/claim:{name}"
        return request("PUT", path, body, token=self._keys[f"s{client}"])

    def _pair(self, client: int) -> Steps:
        name = f"m{self.number()}"
        for owner, version in ((True, 0), (False, 1)):
            answer = yield self._claim(client, name, owner, version)
            Refused.unless(answer.status == 200, answer)
        return True

    def claim(self, client: int, name: str) -> Steps:
        answer = yield self._claim(client, name, True, 0)
        Refused.unless(answer.status in {200, 409}, answer)
        return answer.status == 200

    def unread(self, client: int) -> Sequence[tuple[str, int]]:
        found = self.ask("GET", "/inbox", token=self._keys[f"t{client}"])
        own = [one for one in found if one["channel"].startswith("dm:")]
        return [(one["channel"], one["seq"]) for one in own]

    def listed(self) -> str:
        """As its MCP server says it over its pipes."""
        self.seat("s0")
        url = f"http://127.0.0.1:{self.port}"
        with subprocess.Popen(
            [self.program("agora-mcp")],
            env={**os.environ, **self.env, "AGORA_URL": url, "AGORA_AGENT_ID": "s0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write("".join(json.dumps(one) + "\n" for one in HANDSHAKE))
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            found = next(one for one in answers if one.get("id") == LIST)
            # It ends with its input.
            server.stdin.close()
        return json.dumps(found["result"]["tools"])

    def seat(self, name: str) -> None:
        """Let its programs on this machine act for an agent."""
        url = f"http://127.0.0.1:{self.port}"
        argv = [self.program("agora"), "seed-key", name, "--url", url, "--key", self._keys[name]]
        subprocess.run(argv, env={**os.environ, **self.env}, capture_output=True, check=True)


LIST = 2
HANDSHAKE = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "0"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": LIST, "method": "tools/list"},
)
