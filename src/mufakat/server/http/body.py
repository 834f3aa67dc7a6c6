"""Takes a request's body whole, within limits of size and time, and only as strict JSON."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mufakat.core.base import MufakatError, TooLarge
from mufakat.server.http import json_body, problem, refusal
from mufakat.server.http.limits import Limits


class Gone(Exception):
    """The client left before its body was complete."""


class Body:
    """Reads the body before the application runs, so that a bad one has no effect at all."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self.app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
            if body:
                json_body.parse(body)
        except MufakatError as refused:
            await problem.answer(refused).send(send)
        except Gone:
            return
        else:
            await self.app(scope, _replay(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        fields = dict(scope["headers"])
        self._check(fields)
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                body = await self._collect(receive)
        except TimeoutError as late:
            raise refusal.SlowRequest() from late
        if body and not _is_json(fields.get(b"content-type", b"")):
            raise refusal.UnsupportedMedia()
        return body

    def _check(self, fields: dict[bytes, bytes]) -> None:
        if fields.get(b"content-encoding", b"identity") != b"identity":
            raise refusal.UnsupportedMedia("Compressed bodies are not taken.")
        length = fields.get(b"content-length", b"0")
        if not length.isdigit():
            raise refusal.BadRequest("Content-Length is not a number.")
        if int(length[:20]) > self.limits.body_bytes:
            raise self._too_large()
        if length != b"0" and not _is_json(fields.get(b"content-type", b"")):
            raise refusal.UnsupportedMedia()

    async def _collect(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            body += message.get("body", b"")
            if len(body) > self.limits.body_bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is larger than {self.limits.body_bytes:,} bytes.")


def _has_body(scope: Scope) -> bool:
    names = {name for name, _ in scope["headers"]}
    return b"content-length" in names or b"transfer-encoding" in names


def _is_json(media: bytes) -> bool:
    kind, _, parameters = media.partition(b";")
    charset = parameters.strip().lower().replace(b'"', b"")
    return kind.strip().lower() == b"application/json" and charset in {b"", b"charset=utf-8"}


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
