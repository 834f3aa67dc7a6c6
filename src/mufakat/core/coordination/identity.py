"""Who speaks: every agent and person has one identity, `engine@host:inst`."""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERN = re.compile(
    r"(?P<engine>[a-z0-9-]{1,24})@(?P<host>[a-z0-9.-]{1,63}):(?P<inst>[0-9a-f]{6,32})"
)
PERSON = "human"


@dataclass(frozen=True, slots=True)
class Identity:
    """One instance: which engine, on which host, which of many."""

    engine: str
    host: str
    inst: str

    def __str__(self) -> str:
        return f"{self.engine}@{self.host}:{self.inst}"


def assign(
    engine: str, host: str, *, instance: str, taken: frozenset[str] = frozenset()
) -> Identity:
    """Give out the shortest unambiguous identity for a random 128-bit `instance` in hex.

    `taken` holds identities as text; the instance part grows until it is unique among them.
    """
    name, place = label(engine, 24), host_label(host)
    for digits in range(6, len(instance) + 1):
        candidate = Identity(name, place, instance[:digits])
        if str(candidate) not in taken:
            return candidate
    raise ValueError("the instance id is already taken in full")


def label(text: str, limit: int) -> str:
    """Reduce `text` to lower-case letters, digits and hyphens, `limit` characters at most."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:limit].strip("-") or "agent"


def host_label(host: str) -> str:
    """Reduce a host name to what an identity may carry: its first label, lower case."""
    return label(host.split(".", maxsplit=1)[0], 63) if host else "localhost"


def parse(text: str) -> Identity | None:
    """Read an identity, or answer None where the text is not one."""
    found = PATTERN.fullmatch(text)
    return Identity(found["engine"], found["host"], found["inst"]) if found else None
