"""Who is asking: one bearer token, compared in constant time, never taken from a URL."""

from __future__ import annotations

import hashlib
import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from mufakat.core.base import Unauthenticated
from mufakat.server.http import problem

OPEN = frozenset({("GET", "/api/v1/health")})
"""What is answered without a token; it tells nothing but that we are here."""

_REFUSED = problem.answer(Unauthenticated())


class Auth:
    """Lets requests with the operator's token pass; every other gets the very same answer."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self._digest = _digest(token.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._may_pass(scope):
            await self.app(scope, receive, send)
        else:
            await _REFUSED.send(send)

    def _may_pass(self, scope: Scope) -> bool:
        if (scope["method"], scope["path"]) in OPEN:
            return True
        presented = b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                presented = value
        scheme, _, token = presented.partition(b" ")
        same = hmac.compare_digest(_digest(token.strip()), self._digest)
        return same and scheme.lower() == b"bearer"


def _digest(token: bytes) -> bytes:
    # Equal lengths, so that the comparison does not tell how long the token is.
    return hashlib.sha256(token).digest()
