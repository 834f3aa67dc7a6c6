"""What was read last, for readers while the store is out of reach: each its own, marked as old."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mufakat.core.base import Millis
from mufakat.sdk import client
from mufakat.server.http import views

ROUTES = frozenset(
    {
        "GET /snapshot",
        "GET /agents",
        "GET /agents/{name:agent}",
        "GET /notices",
        "GET /projects",
        "GET /projects/{id}",
        "GET /conversations",
        "GET /conversations/{id}",
        "GET /conversations/{id}/messages",
        "GET /packs",
        "GET /packs/{id}",
    }
)
"""What may be shown though it is old. Nobody acts on it: no leases of their own, no inbox, no
context, no turn that somebody waits for, and nothing that changes anything."""
SECONDS = 3600.0
"""What was read longer ago is not shown any more."""
MOST_BYTES = 8 << 20
LARGEST_BYTES = 1 << 20
HEADER = client.OLD.lower().encode()

Key = tuple[bytes, str]
"""Digest of the bearer, and what was asked with it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and when it was read."""

    body: bytes
    read: float
    """On the monotonic clock, in seconds."""
    since: str
    """The same by the wall clock, to be shown."""


@dataclass(slots=True)
class Caught:
    """The answer of what lies behind, held back until it is known what becomes of it."""

    status: int = 0
    messages: list[Message] = field(default_factory=list)

    async def take(self, message: Message) -> None:
        """Keep one part of the answer."""
        self.status = message.get("status", self.status)
        self.messages.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(one.get("body", b"") for one in self.messages)


class Stale:
    """Keeps the answers of `routes`, and gives them again instead of a 503 while `away` holds.

    An answer goes to the bearer that has had it before, and to nobody else, because whose a
    bearer is cannot be looked up then. A bearer that is refused loses what was kept for it.
    """

    def __init__(
        self,
        app: ASGIApp,
        away: Callable[[], bool],
        *,
        prefix: str,
        clock: Callable[[], float] = time.monotonic,
        routes: Iterable[str] = ROUTES,
    ) -> None:
        self.app = app
        self._away = away
        self._clock = clock
        named = [route.split(" ", 1) for route in sorted(routes)]
        self._table = [(method, compile_path(prefix + path)[0]) for method, path in named]
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = self._key(scope) if scope["type"] == "http" else None
        if key is None:
            await self.app(scope, receive, send)
            return
        caught = Caught()
        await self.app(scope, receive, caught.take)
        for message in self._weighed(key, caught):
            await send(message)

    def _key(self, scope: Scope) -> Key | None:
        bearer = next((one for name, one in scope["headers"] if name == b"authorization"), b"")
        query = scope["query_string"]
        method, path = scope["method"], scope["path"]
        # Who waits for a change would be answered at once, and ask again and again.
        if not bearer or b"wait" in query or not self._may(method, path):
            return None
        return hashlib.sha256(bearer).digest(), f"{method} {path}?{query.decode('latin-1')}"

    def _may(self, method: str, path: str) -> bool:
        return any(method == known and shape.match(path) for known, shape in self._table)

    def _weighed(self, key: Key, caught: Caught) -> list[Message]:
        """What the caller gets."""
        match caught.status:
            case HTTPStatus.OK:
                self._keep(key, caught.body)
            case HTTPStatus.SERVICE_UNAVAILABLE if self._away():
                kept = self._kept.get(key)
                if kept is not None and self._clock() - kept.read < SECONDS:
                    return _marked(kept)
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.CONFLICT:
                for known in [one for one in self._kept if one[0] == key[0]]:
                    self._drop(known)
            case HTTPStatus.NOT_FOUND:
                self._drop(key)
        return caught.messages

    def _keep(self, key: Key, body: bytes) -> None:
        self._drop(key)
        if len(body) > LARGEST_BYTES:
            return
        self._kept[key] = Kept(body, self._clock(), _now())
        self._bytes += len(body)
        while self._bytes > MOST_BYTES:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= len(kept.body)


def _marked(kept: Kept) -> list[Message]:
    record = {**json.loads(kept.body), "stale": True, "stale_since": kept.since}
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (HEADER, kept.since.encode()),
    ]
    return [
        {"type": "http.response.start", "status": 200, "headers": headers},
        {"type": "http.response.body", "body": body},
    ]


def _now() -> str:
    return views.stamp(Millis(time.time_ns() // 1_000_000))
