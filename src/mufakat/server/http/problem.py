"""Errors as problem+json: the one table from an error's code to its HTTP status."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.types import Send

from mufakat.core import base
from mufakat.server.http import refusal

MEDIA = "application/problem+json"

STATUS: dict[str, int] = {
    base.MufakatError.code: 500,
    base.InvalidInput.code: 422,
    base.TooLarge.code: 413,
    base.DoesNotFit.code: 422,
    base.NotFound.code: 404,
    base.Conflict.code: 409,
    base.IdempotencyConflict.code: 409,
    base.Held.code: 409,
    base.Deadlock.code: 409,
    base.LeaseLost.code: 409,
    base.Superseded.code: 409,
    base.StaleState.code: 409,
    base.NotAllowed.code: 403,
    base.TooBroad.code: 403,
    base.Unauthenticated.code: 401,
    base.Unavailable.code: 503,
    base.InUse.code: 503,
    base.Paused.code: 503,
    base.TooMany.code: 429,
    base.StoreError.code: 503,
    base.StoreCorrupt.code: 503,
    base.StoreNewer.code: 503,
    base.StoreRolledBack.code: 503,
    base.StoreReadOnly.code: 503,
    base.StorageFull.code: 507,
    base.EngineError.code: 409,
    base.EngineUnknown.code: 422,
    base.EngineMissing.code: 409,
    refusal.BadRequest.code: 400,
    refusal.InvalidJson.code: 400,
    refusal.InvalidText.code: 422,
    refusal.BadCursor.code: 400,
    refusal.UnknownEpoch.code: 409,
    refusal.FutureCursor.code: 409,
    refusal.Compacted.code: 410,
    refusal.Misdirected.code: 421,
    refusal.ForeignOrigin.code: 403,
    refusal.MethodNotAllowed.code: 405,
    refusal.UnsupportedMedia.code: 415,
    refusal.UrlTooLong.code: 414,
    refusal.HeadersTooLarge.code: 431,
    refusal.SlowRequest.code: 408,
    refusal.TooManyStreams.code: 429,
}

CLOSING = frozenset({400, 401, 403, 405, 408, 413, 414, 415, 421, 431})
"""Where the rest of the connection cannot be trusted or is not worth reading."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole error answer, ready to be sent."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    async def send(self, send: Send) -> None:
        """Send it; nothing may have been sent before."""
        await send(
            {"type": "http.response.start", "status": self.status, "headers": [*self.headers]}
        )
        await send({"type": "http.response.body", "body": self.body})


def status_of(error: base.MufakatError) -> int:
    """The status of an error; a subclass without its own row takes that of its parent."""
    for kind in type(error).__mro__:
        status = STATUS.get(getattr(kind, "code", ""))
        if status is not None:
            return status
    return 500


def document(error: base.MufakatError) -> dict[str, Any]:
    """The problem as JSON data; an error's own details become members beside the standard ones."""
    title = " ".join((type(error).__doc__ or "").split())
    standard = {
        "type": f"urn:mufakat:problem:{error.code}",
        "title": title,
        "status": status_of(error),
        "detail": str(error),
        "fix": error.fix or _advice(title),
        "code": error.code,
        "retryable": error.retryable,
    }
    return {**error.detail, **standard}


def answer(error: base.MufakatError, headers: Mapping[str, str] | None = None) -> Answer:
    """Turn an error into an answer."""
    status = status_of(error)
    body = json.dumps(document(error), ensure_ascii=False, default=str).encode("utf-8", "replace")
    return Answer(status, (*_headers(error, status, len(body)), *_encoded(headers or {})), body)


def internal() -> base.MufakatError:
    """What a client is told of a fault of ours: nothing of its inside."""
    return base.MufakatError(
        "The server has made a mistake; nothing of it is shown here.",
        fix="Look into the server's log and run `mufakat doctor`.",
    )


def from_http(status: int, detail: str) -> base.MufakatError:
    """Put a framework's own refusal into our words."""
    match status:
        case HTTPStatus.NOT_FOUND:
            return base.NotFound("There is nothing at this address.", fix="See the API document.")
        case HTTPStatus.METHOD_NOT_ALLOWED:
            return refusal.MethodNotAllowed()
        case HTTPStatus.UNSUPPORTED_MEDIA_TYPE:
            return refusal.UnsupportedMedia()
        case _ if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return refusal.BadRequest(detail)
        case _:
            return internal()


def _headers(error: base.MufakatError, status: int, size: int) -> list[tuple[bytes, bytes]]:
    fields = [
        (b"content-type", MEDIA.encode()),
        (b"content-length", str(size).encode()),
    ]
    if status in {429, 408} or (status == 503 and error.retryable):
        fields.append((b"retry-after", str(_pause(error)).encode()))
    if status == 401:
        fields.append((b"www-authenticate", b"Bearer"))
    if status in CLOSING:
        fields.append((b"connection", b"close"))
    return fields


def _pause(error: base.MufakatError) -> int:
    """Whole seconds until it is worth asking again."""
    wish = error.detail.get("retry_after", 1)
    return max(1, math.ceil(wish)) if isinstance(wish, int | float) else 1


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


def _advice(title: str) -> str:
    tail = title.partition("; ")[2]
    return tail[:1].upper() + tail[1:] if tail else title
