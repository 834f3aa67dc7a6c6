"""Who speaks: every agent and person has one identity, `engine@host:inst`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

PATTERN = re.compile(
    r"(?P<engine>[a-z0-9-]{1,24})@(?P<host>[a-z0-9.-]{1,63}):(?P<inst>[0-9a-f]{6,32})"
)
SUB = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""What an engine may call an agent within an agent."""
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,62}[A-Za-z0-9])?")
"""An alias or a role: ASCII alone, so that no letter can pass for another alphabet's."""
RESERVED = frozenset({"all", "everybody", "human", "last", "me", "mufakat", "system"})
ALIKE: Mapping[str, str] = MappingProxyType({"0": "o", "1": "l", "i": "l", "5": "s"})
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


def sub(parent: str, agent: str) -> str | None:
    """Name an agent within `parent`, or answer None where its engine calls it something unfit."""
    whole = parse(parent) is not None and SUB.fullmatch(agent) is not None
    return f"{parent}/{agent}" if whole else None


def owner(text: str) -> str:
    """The instance that an identity belongs to: itself, or that which a sub-agent is part of."""
    return text.partition("/")[0]


def choose(name: str, candidates: Sequence[str]) -> str | None:
    """The candidate that `name` means: exactly, else as the only one that begins with it."""
    if name in candidates:
        return name
    # A whole identity is also the beginning of its own sub-agents' names.
    beginning = {one for one in candidates if name and one.startswith(name)}
    owners = {one for one in beginning if "/" not in one} or beginning
    return owners.pop() if len(owners) == 1 else None


def nearest(name: str, names: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """Names that somebody may have meant, the nearest first."""
    spelled = {one.lower(): one for one in names}
    found = difflib.get_close_matches(name.lower(), list(spelled), n=limit, cutoff=0.5)
    return tuple(spelled[one] for one in found)


def unfit(name: str) -> str:
    """Why a name may not be an alias or a role; empty where it may."""
    if not NAME.fullmatch(name):
        return "names are 1 to 64 letters, digits, spaces and _.- of ASCII"
    return f"{name} is reserved" if name.lower() in RESERVED else ""


def look_alike(name: str, names: Iterable[str]) -> str:
    """One of `names` that a reader could take `name` for, though it is another; else empty."""
    drawn = _drawn(name)
    return next((one for one in names if one != name and _drawn(one) == drawn), "")


def _drawn(name: str) -> str:
    plain = re.sub(r"[ _.-]+", "", name.lower()).replace("rn", "m").replace("vv", "w")
    return "".join(ALIKE.get(char, char) for char in plain)
