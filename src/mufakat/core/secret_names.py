"""Secrets that are known by their name alone: assignments, headers, command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

KINDS = ("aws-secret-key", "basic-auth", "bearer-token", "assigned-secret")
NAMES = (
    r"password|passwd|passphrase|secret|bearer|(?:api|access|private|secret|account)[_-]?key"
    r"|(?:auth|access|refresh|api|bot)[_-]?token|aws_secret_access_key"
)
"""What a secret is called where it stands as a value; any case."""
HINTS = ("passw", "passp", "secret", "bearer", "key", "token", "auth", "basic", "curl")
"""One of these stands in every text that can hold such a secret, in small letters."""

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_QUOTE = r"\\{0,3}[\"']?"
_ASSIGNED = re.compile(
    rf"(?P<name>(?i:{NAMES}))"
    rf"(?P<between>{_QUOTE}(?:\s{{0,4}}(?::=|=>|={{1,3}}|:)\s{{0,4}}|\s)(?P<quote>{_QUOTE}))"
    r"(?P<value>[A-Za-z0-9+/_=.~!@#$%^&*-]{12,250})(?P<after>.?)"
)
_BASIC = re.compile(r"(?<![A-Za-z0-9])(?i:basic) {1,4}(?P<value>[A-Za-z0-9+/]{12,400}={0,2})(?!\w)")
_AUTH = re.compile(
    rf"\"auth{_QUOTE}\s{{0,4}}:\s{{0,4}}{_QUOTE}(?P<value>[A-Za-z0-9+/]{{16,400}}={{0,2}})(?![\w+/=-])"
)
_CURL = re.compile(
    r"\bcurl (?:(?!curl )[^\n]){0,200}?(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"'$]{1,100}:"
    r"(?P<value>(?![$<{*%]|\[secret:)[^\s\"']{3,200})"
)
_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*")


@dataclass(frozen=True, slots=True)
class Named:
    """A secret and where it stands."""

    kind: str
    start: int
    end: int


def find(text: str) -> Iterator[Named]:
    """Secrets of a text in their order; they never overlap."""
    lower = text.lower()
    if not any(hint in lower for hint in HINTS):
        return
    found = [*_assigned(text)]
    if "basic" in lower:
        found += [
            Named("basic-auth", *one.span("value")) for one in _BASIC.finditer(text) if _basic(one)
        ]
    if '"auth' in text:
        found += [
            Named("basic-auth", *one.span("value"))
            for one in _AUTH.finditer(text)
            if holds_pair(one["value"])
        ]
    if "curl " in text:
        found += [Named("basic-auth", *one.span("value")) for one in _CURL.finditer(text)]
    end = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if one.start >= end:
            yield one
            end = one.end


def _assigned(text: str) -> Iterator[Named]:
    for one in _ASSIGNED.finditer(text):
        if _looks_secret(one):
            yield Named(_kind(one), *one.span("value"))


def _kind(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 12) : found.end("name")].lower().replace("_", "")
    if before.endswith("secretaccesskey") and len(found["value"]) == 40:
        return "aws-secret-key"
    return "bearer-token" if found["name"].lower() == "bearer" else "assigned-secret"


def _basic(found: re.Match[str]) -> bool:
    """Tell Base64 of `name:password` from an English word."""
    before = found.string[max(0, found.start() - 40) : found.start()].lower()
    if "authorization" in before:
        return any(not c.islower() for c in found["value"][1:])
    return holds_pair(found["value"])


def holds_pair(value: str) -> bool:
    """Whether a text in Base64 is a name and a password with a colon between them."""
    bits, size = 0, 0
    for letter in value.rstrip("="):
        bits, size = bits << 6 | _BASE64.index(letter), size + 6
    raw = (bits >> size % 8).to_bytes(size // 8, "big")
    return b":" in raw[1:] and all(32 <= byte < 127 for byte in raw)


def _looks_secret(found: re.Match[str]) -> bool:
    """Tell a value from an expression that computes one, and from words."""
    value, quoted = found["value"], found["quote"].endswith(("'", '"'))
    if not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return False
    if quoted or not _CODE.fullmatch(value):
        return found["after"] not in ("(", "[") or quoted
    if found["after"] in ("(", "[", ".") or "." in value or value.startswith("$"):
        return False
    return random_looking(value)


def random_looking(value: str) -> bool:
    """Whether a word has the look of dice, not of a name: its letters change their class often."""
    digits = sum(c.isdigit() for c in value)
    often = changes(value)
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value)
    if mixed:
        return digits >= 1 and often >= 5 and often * 20 >= 8 * (len(value) - 1)
    return digits >= 4 and often >= 5 and often * 20 >= 6 * (len(value) - 1)


def changes(value: str) -> int:
    """How often a small letter, a capital and a digit follow another of these."""
    classes = [
        "d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "" for c in value
    ]
    return sum(a != b for a, b in zip(classes, classes[1:], strict=False) if a and b)
