"""Streaming without leaking: how much of a growing text can be released already."""

from __future__ import annotations

import re

from mufakat.core import secret_names

LONGEST_HELD = 20_000
"""Characters that are held back at most, the length of the longest kind of secret."""
_KEY_BLOCK = "-----BEGIN"
_ASSIGNMENT = re.compile(
    rf"(?i:{secret_names.NAMES}|\"auth\b|\bauthorization|\bcurl )[\"']?\s*[:=]?[^\n]*\Z"
)
_BASIC = re.compile(r"(?i:\bbasic)\s+\S*\Z")
_WORD = re.compile(r"\S*\Z")


def settled(text: str) -> int:
    """Characters of `text` that no later piece can turn into part of a secret.

    A word still growing waits for its end, an assignment for the end of its line, a key block
    for its last line.
    """
    if len(text) > LONGEST_HELD:
        return len(text)
    begun = text.rfind(_KEY_BLOCK)
    if begun >= 0 and "-----END" not in text[begun:]:
        # The name before a key says what kind it is.
        named = _ASSIGNMENT.search(text[:begun], max(0, begun - 100))
        return named.start() if named else begun
    for pattern in (_ASSIGNMENT, _BASIC, _WORD):
        found = pattern.search(text, max(0, len(text) - 2_000))
        if found and found.start() < len(text):
            return found.start()
    return len(text)
