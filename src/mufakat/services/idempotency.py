"""Idempotency: the same key with the same request answers the first result again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from mufakat.core.base import IdempotencyConflict
from mufakat.ports.store import Transaction


def digest(*parts: Any) -> str:
    """SHA-256 of a request, hex."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def earlier(tx: Transaction, key: str, request: str) -> str:
    """The id that this key's first request got, or nothing; another request is a conflict."""
    found = tx.keys.find(key) if key else None
    if found is None:
        return ""
    stored, result = found
    if stored != request:
        raise IdempotencyConflict()
    return result


def keep(tx: Transaction, key: str, request: str, result: str) -> None:
    """Remember a key's result in the transaction that made it."""
    if key:
        tx.keys.keep(key, request, result)
