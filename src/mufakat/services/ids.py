"""Ids: sortable by time, unguessable, short enough to type a prefix of."""

from __future__ import annotations

import secrets

from mufakat.core.base import Millis

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new(prefix: str, at: Millis) -> str:
    """A new id: prefix, ten digits of the store's time, sixteen random ones."""
    return f"{prefix}_{_digits(at, 10)}{_digits(secrets.randbits(80), 16)}"


def _digits(value: int, count: int) -> str:
    digits = []
    for _ in range(count):
        value, digit = divmod(value, 32)
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def fence() -> str:
    """A conversation's mark for quoted text: 132 random bits in 22 characters."""
    return secrets.token_urlsafe(17)[:22]


def nonce() -> str:
    """A run's mark for its own requests: 64 random bits, hex."""
    return secrets.token_hex(8)


def instance() -> str:
    """A random 128-bit instance id, hex."""
    return secrets.token_hex(16)
