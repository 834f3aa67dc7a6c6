"""Whether a call comes from the team chat: by its signature, or by a bearer kept for it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from mufakat.core.base import Unauthenticated
from mufakat.settings import ChatSecrets

VERSION = "v0"
WINDOW = 300
"""Seconds by which a signature may be old, or our clock wrong."""
SIGNATURE, STAMP = "x-slack-signature", "x-slack-request-timestamp"


def check(shared: ChatSecrets, headers: Mapping[str, str], body: bytes, *, now: float) -> bool:
    """Whether a call is signed; raises Unauthenticated where nothing shows that it is the chat's.

    `now` is wall time: the chat signs by it. Every refusal reads the same.
    """
    if SIGNATURE in headers:
        if _signed(shared.signing, headers, body, now=now):
            return True
    elif _bears(shared.incoming, headers.get("authorization", "")):
        return False
    raise Unauthenticated


def sign(secret: str, stamp: str, body: bytes) -> str:
    """The signature of a body that was sent at a time."""
    base = f"{VERSION}:{stamp}:".encode() + body
    return f"{VERSION}={hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()}"


def _signed(secret: str, headers: Mapping[str, str], body: bytes, *, now: float) -> bool:
    stamp = headers.get(STAMP, "")
    if not secret or not stamp.isdecimal() or len(stamp) > 12:
        return False
    if abs(now - int(stamp)) > WINDOW:
        return False
    given = headers[SIGNATURE].encode("utf-8", "replace")
    return hmac.compare_digest(sign(secret, stamp, body).encode(), given)


def _bears(secret: str, header: str) -> bool:
    scheme, _, token = header.partition(" ")
    given = token.strip().encode("utf-8", "replace")
    return bool(secret) and scheme.lower() == "bearer" and _same(secret.encode(), given)


def _same(one: bytes, other: bytes) -> bool:
    # Equal lengths, so that the comparison does not tell how long the secret is.
    return hmac.compare_digest(hashlib.sha256(one).digest(), hashlib.sha256(other).digest())
