"""Secrets in text: found by shape or by name, and replaced by typed placeholders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from mufakat.core import secret_kinds, secret_names
from mufakat.core.secret_kinds import Shape

KINDS: tuple[str, ...] = (*secret_kinds.KINDS, *secret_names.KINDS)
"""All that are found in any text; a home's own tokens, known by value, come on top."""
OWN = "own-token"
BLOCKS = frozenset({"private-key", "gcp-service-account"})
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{20}")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets, and the kinds that were found."""

    text: str
    kinds: tuple[str, ...] = ()


def scrub(text: str, known: Iterable[str] = ()) -> Scrubbed:
    """Replace secrets by `[secret:kind:hash]`; `known` holds own tokens, matched exactly.

    The hash is the first eight digits of SHA-256, so that two mentions can be seen to be one.
    """
    kinds: list[str] = []
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= 8 and value in text:
            kinds.append(OWN)
            text = text.replace(value, placeholder(OWN, value))
    for shape in secret_kinds.SHAPES:
        if shape.hint in text:
            text = _shaped(text, shape, kinds)
    return Scrubbed(_named(text, kinds), tuple(kinds))


def placeholder(kind: str, value: str) -> str:
    """The stand-in for a secret value."""
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[secret:{kind}:{digest[:8]}]"


def _shaped(text: str, shape: Shape, kinds: list[str]) -> str:
    pattern = secret_kinds.pattern(shape)
    part: str | int = secret_kinds.VALUE if pattern.groupindex else 0

    def replaced(found: re.Match[str]) -> str:
        whole, value = found[0], found[part]
        if shape.kind in BLOCKS and not _KEY_BODY.search(value):
            return whole
        kinds.append(shape.kind)
        start, end = (at - found.start() for at in found.span(part))
        return whole[:start] + placeholder(shape.kind, value) + whole[end:]

    return pattern.sub(replaced, text)


def _named(text: str, kinds: list[str]) -> str:
    parts, at = [], 0
    for one in secret_names.find(text):
        kinds.append(one.kind)
        parts += [text[at : one.start], placeholder(one.kind, text[one.start : one.end])]
        at = one.end
    return "".join((*parts, text[at:]))
