"""Who is asking: a bearer in the head, never in a URL, becomes the principal of the request."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from mufakat.core.base import MufakatError, Unauthenticated
from mufakat.core.coordination.principal import Principal
from mufakat.server.http import problem

PRINCIPAL = "principal"
"""Entry of the request's state: who asks."""
LONGEST = 256
"""Characters of a token; what is longer is none of ours."""

LookUp = Callable[[str], Awaitable[Principal]]
"""Whose a token is; raises Unauthenticated or Superseded."""


class Auth:
    """Names the principal of each request; those without a valid token get one same answer."""

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        operator: Principal,
        others: LookUp,
        *,
        opened: Callable[[str, str], bool],
    ) -> None:
        self.app = app
        self.opened = opened
        """Whether a method and path are answered without a token."""
        self._token = _digest(token)
        self._operator = operator
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.opened(scope["method"], scope["path"]):
            try:
                by = await self.identify(_bearer(scope))
            except MufakatError as refused:
                await problem.answer(refused).send(send)
                return
            scope["state"] = {**scope.get("state", {}), PRINCIPAL: by}
        await self.app(scope, receive, send)

    async def identify(self, token: str) -> Principal:
        """Whose a token is; raises Unauthenticated or Superseded."""
        if not token:
            raise Unauthenticated
        if hmac.compare_digest(_digest(token), self._token):
            return self._operator
        return await self._others(token)


def _bearer(scope: Scope) -> str:
    """The token of a request, or nothing where there is none that could be valid."""
    presented = b""
    for name, value in scope["headers"]:
        if name == b"authorization":
            presented = value
    scheme, _, token = presented.partition(b" ")
    text = token.strip().decode("latin-1")
    plain = len(text) <= LONGEST and all("!" <= char <= "~" for char in text)
    return text if plain and scheme.lower() == b"bearer" else ""


def _digest(token: str) -> bytes:
    # Equal lengths, so that the comparison does not tell how long the token is.
    return hashlib.sha256(token.encode()).digest()
