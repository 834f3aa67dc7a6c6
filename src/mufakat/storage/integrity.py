"""Digests of stored rows: damage is found when a row is read, never served."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from mufakat.core import base


def text_digest(text: str, what: str) -> str:
    """SHA-256 of a text that a database can hold; raises InvalidInput for NUL and surrogates."""
    if "\0" in text:
        raise base.InvalidInput(f"{what} has a NUL character; clean it before it is stored.")
    try:
        return hashlib.sha256(text.encode()).hexdigest()
    except UnicodeEncodeError as error:
        raise base.InvalidInput(
            f"{what} has a lone surrogate; clean it before it is stored."
        ) from error


def seal(fields: Iterable[object]) -> str:
    """SHA-256 over all the fields of a row, in order."""
    return hashlib.sha256("\0".join(map(str, fields)).encode("utf-8", "replace")).hexdigest()


def link(before: str, seal: str) -> str:
    """SHA-256 of everything up to a row: of what came before it, and of its own seal."""
    return hashlib.sha256((before + seal).encode()).hexdigest()


def intact(text: object, digest: object) -> bool:
    """Whether a stored text still has its digest."""
    return isinstance(text, str) and (
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() == digest
    )


def damaged(what: str) -> base.StoreCorrupt:
    """The error for a row that no longer matches its digest."""
    return base.StoreCorrupt(
        f"{what} in the database is damaged and is not shown; restore the newest good backup.",
        fix="mufakat restore <newest backup>",
    )
