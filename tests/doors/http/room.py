"""Agents that have joined, each with its own token, over one in-process server."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

API = "/api/v1"
JOIN = "join-token-0123456789abcdefghijklmnop"


@dataclass
class Caller:
    """Somebody who calls with one token."""

    http: httpx.AsyncClient
    token: str
    record: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        return str(self.record["identity"])

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    async def ask(
        self, method: str, path: str, body: Any = None, *, key: str = "", **query: Any
    ) -> httpx.Response:
        headers = self.headers | ({"idempotency-key": key} if key else {})
        return await self.http.request(
            method, f"{API}{path}", json=body, params=query or None, headers=headers
        )

    async def get(self, path: str, **query: Any) -> Any:
        """What a path answers; it must be there."""
        answer = await self.ask("GET", path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: Any = None, *, key: str = "") -> Any:
        """What a command answers; it must be taken."""
        answer = await self.ask("POST", path, body or {}, key=key)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()


@dataclass
class Room:
    """A server in which agents meet."""

    http: httpx.AsyncClient
    operator: Caller
    joiner: Caller
    project: str
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def join(self, engine: str = "codex", **more: Any) -> Caller:
        """Let an agent join the room's project."""
        wanted = {"engine": engine, "project": self.project, **more}
        record = await self.joiner.post("/agents", wanted)
        return Caller(self.http, record["token"], record)

    async def send(self, sender: Caller, *to: Caller | str, **more: Any) -> Any:
        """Send a message under a key of its own."""
        names = [one if isinstance(one, str) else one.identity for one in to]
        body = {"to": names, "body": "Hello.", **more}
        return await sender.post("/messages", body, key=f"k{next(self.numbers)}")


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem of a refusal, which must be just this one."""
    assert answer.status_code == status, answer.text
    problem: dict[str, Any] = answer.json()
    assert problem["code"] == code, problem
    return problem
