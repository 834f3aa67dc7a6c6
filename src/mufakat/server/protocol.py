"""Our refinements of uvicorn's HTTP/1.1 protocol: exact refusals, and no endless requests.

uvicorn answers 400 to everything it cannot parse and waits without limit for the head of a
request; and a stream whose reader takes nothing can only be ended through the transport.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from mufakat.core.base import MufakatError
from mufakat.server.http import guard, problem, refusal
from mufakat.server.http.sse import ABORT


class Protocol(H11Protocol):
    """One connection; `head_seconds` bounds the time that the head of a request may take."""

    head_seconds: float = 30

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._inner: ASGIApp = self.app
        self.app = self._with_abort
        self._deadline: asyncio.TimerHandle | None = None

    async def _with_abort(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[ABORT] = self.transport.abort
        await self._inner(scope, receive, send)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_clock()
        elif self._deadline is None and self.conn.trailing_data[0]:
            self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong with a request that cannot be parsed, and hang up."""
        self._refuse(self._why(sys.exception()))

    def _why(self, fault: BaseException | None) -> MufakatError:
        hint = getattr(fault, "error_status_hint", 400)
        if hint != 431:
            return refusal.BadRequest("This is not valid HTTP.")
        received, _ = self.conn.trailing_data
        return refusal.HeadersTooLarge() if b"\n" in received else refusal.UrlTooLong()

    def _start_clock(self) -> None:
        self._deadline = self.loop.call_later(self.head_seconds, self._late)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self._refuse(refusal.SlowRequest())

    def _refuse(self, error: MufakatError) -> None:
        self._stop_clock()
        # While an answer is on its way no other can be written; then hanging up is all there is.
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE} and not self._answering():
            answer = problem.answer(error)
            headers = [*answer.headers, *guard.SECURITY]
            for event in (
                h11.Response(status_code=answer.status, headers=headers),
                h11.Data(data=answer.body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _answering(self) -> bool:
        return (
            self.cycle is not None
            and self.cycle.response_started
            and (not self.cycle.response_complete)
        )


def bounded(head_seconds: float) -> type[Protocol]:
    """The protocol with a deadline for the head of a request."""

    class Bounded(Protocol):
        pass

    Bounded.head_seconds = head_seconds
    return Bounded
