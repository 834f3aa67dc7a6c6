"""First look at a request, before anything is read or looked up: who may talk to us, and how.

Pure ASGI, because it runs on every request. It also puts the security headers on every answer
and turns faults into answers that show nothing of the inside.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mufakat.core.base import MufakatError
from mufakat.server.http import problem, refusal
from mufakat.server.http.limits import Limits

log = logging.getLogger(__name__)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

SECURITY: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
)

_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,253})(?::[0-9]{1,5})?")
_ONCE = frozenset({b"host", b"authorization", b"content-length", b"content-type", b"origin"})
_OVERRIDES = frozenset({b"x-http-method-override", b"x-http-method", b"x-method-override"})

Headers = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Rules:
    """Which names this server answers to; lower case, an IPv6 address in brackets."""

    hosts: frozenset[str] = LOOPBACK
    limits: Limits = Limits()


def rules(hosts: Iterable[str] = (), *, limits: Limits) -> Rules:
    """The rules of a server that also answers to `hosts`."""
    return Rules(LOOPBACK | {host.lower() for host in hosts}, limits)


def examine(scope: Scope, rules: Rules) -> MufakatError | None:
    """Say why a request is refused, or None; looks at its head alone."""
    size, fields, doubled = 0, {}, b""
    for name, value in scope["headers"]:
        size += len(name) + len(value) + 4
        if name in fields and name in _ONCE:
            doubled = name
        fields[name] = value
    if size > rules.limits.header_bytes:
        return refusal.HeadersTooLarge()
    if doubled:
        return refusal.BadRequest(f"There are two {doubled.decode('latin-1')} headers.")
    return _target(scope, rules.limits) or _method(scope, fields) or _site(fields, rules)


def _target(scope: Scope, limits: Limits) -> MufakatError | None:
    raw = scope.get("raw_path") or b""
    if len(raw) + len(scope["query_string"]) > limits.url_bytes:
        return refusal.UrlTooLong()
    if any(char < " " or char == "\x7f" for char in scope["path"]):
        return refusal.BadRequest("The path holds control characters.")
    return None


def _method(scope: Scope, fields: Headers) -> MufakatError | None:
    if scope["method"] not in METHODS:
        return refusal.MethodNotAllowed(f"{scope['method'][:20]} is not served.")
    if not _OVERRIDES.isdisjoint(fields):
        return refusal.MethodNotAllowed("Method overrides are not followed.")
    if b"content-length" in fields and b"transfer-encoding" in fields:
        return refusal.BadRequest("Content-Length and Transfer-Encoding contradict each other.")
    return None


def _site(fields: Headers, rules: Rules) -> MufakatError | None:
    authority = fields.get(b"host", b"").decode("latin-1").lower()
    found = _AUTHORITY.fullmatch(authority)
    if found is None or found["host"] not in rules.hosts:
        return refusal.Misdirected()
    origin = fields.get(b"origin")
    if origin is not None and not _own(origin.decode("latin-1").lower(), authority):
        return refusal.ForeignOrigin()
    if fields.get(b"sec-fetch-site") == b"cross-site":
        return refusal.ForeignOrigin()
    return None


def _own(origin: str, authority: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc == authority


class Guard:
    """Examines each request, and stands at the edge for faults of everything behind it."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app = app
        self.rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def secured(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), *SECURITY]
            await send(message)

        refused = examine(scope, self.rules)
        if refused is not None:
            allow = {"allow": "GET, POST"} if refused.code == "method_not_allowed" else {}
            await problem.answer(refused, allow).send(secured)
            return
        try:
            await self.app(scope, receive, secured)
        except Exception:  # noqa: BLE001 - the door's edge: no fault may reach the client as it is
            log.exception("fault in %s %s", scope["method"], scope["path"])
            if not started:
                await problem.answer(problem.internal()).send(secured)
