"""Posts JSON to a webhook, and reads of the answer whether it arrived and what to do if not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from mufakat.core.base import InvalidInput, Unavailable
from mufakat.ports.chat import Later, Outcome, Posted, Refused

SECONDS = 10.0
ANSWER_BYTES = 64 * 1024
LONGEST_WAIT = 3600.0
OF_THE_MESSAGE = frozenset({400, 413, 422})
"""Refusals of this one post; another may be taken."""
WRONG_MESSAGE = frozenset(
    {"invalid_arguments", "invalid_blocks", "msg_too_long", "no_text", "metadata_too_large"}
)
WAIT = frozenset(
    {"ratelimited", "rate_limited", "fatal_error", "internal_error", "request_timeout"}
)


class Webhook:
    """An incoming webhook, or an API method that posts and takes a bearer."""

    def __init__(self, url: str, token: str = "", *, seconds: float = SECONDS) -> None:
        self._url = url
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._seconds = seconds

    async def post(self, payload: Mapping[str, Any]) -> Outcome:
        """Post once; failures are answers."""
        try:
            answer, body = await _send(self._url, payload, self._headers, seconds=self._seconds)
        except httpx.HTTPError as problem:
            return Later(type(problem).__name__)
        if answer.is_success:
            return _read(answer, body)
        if answer.status_code == 429 or answer.status_code >= 500:
            return Later(f"HTTP {answer.status_code}", _pause(answer))
        why = body[:200].decode("utf-8", "replace").strip()
        lasting = answer.status_code not in OF_THE_MESSAGE
        return Refused(f"HTTP {answer.status_code} {why}".strip(), lasting=lasting)


async def call(url: str, told: Mapping[str, str], key: str) -> None:
    """Tell a webhook something once; raises Unavailable to be tried again, or InvalidInput."""
    try:
        answer, _ = await _send(url, told, {"idempotency-key": key}, seconds=SECONDS)
    except httpx.HTTPError as problem:
        raise Unavailable(f"The webhook did not answer: {type(problem).__name__}.") from problem
    if answer.status_code == 429 or answer.status_code >= 500:
        raise Unavailable(f"The webhook answered HTTP {answer.status_code}.")
    if not answer.is_success:
        raise InvalidInput(f"The webhook refused: HTTP {answer.status_code}.")


async def _send(
    url: str, payload: Mapping[str, Any], headers: Mapping[str, str], *, seconds: float
) -> tuple[httpx.Response, bytes]:
    """Post, and read no more of the answer than an honest one has."""
    body = b""
    async with (
        httpx.AsyncClient(timeout=seconds, follow_redirects=False) as client,
        client.stream("POST", url, json=dict(payload), headers=dict(headers)) as answer,
    ):
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > ANSWER_BYTES:
                break
    return answer, body


def _read(answer: httpx.Response, body: bytes) -> Outcome:
    """The outcome of a request that was answered with success, which may still say no."""
    try:
        told = json.loads(body)
    except ValueError:
        return Posted()
    if not isinstance(told, dict) or told.get("ok", True):
        stamp = told.get("ts") if isinstance(told, dict) else None
        return Posted(stamp if isinstance(stamp, str) else "")
    why = str(told.get("error", "no reason given"))[:200]
    if why in WAIT:
        return Later(why, _pause(answer))
    return Refused(why, lasting=why not in WRONG_MESSAGE)


def _pause(answer: httpx.Response) -> float | None:
    asked = answer.headers.get("retry-after", "")
    return min(float(asked), LONGEST_WAIT) if asked.isdecimal() and len(asked) < 10 else None
