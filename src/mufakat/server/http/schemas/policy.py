"""The shapes of the lease policy."""

from __future__ import annotations

from typing import Any, Literal

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.leases import Holder


class Class(Answer):
    """What holds for everybody of one class; times in seconds."""

    name: str
    preemption: Literal["never", "ask", "grace", "now"]
    max_hold: float
    """While somebody waits nobody renews beyond it."""
    min_hold: float
    leases: int
    """How many one agent may hold."""
    broad: int
    """How many folders a `**` pattern names below its root at least."""


class Policy(Answer):
    """The policy in force; times in seconds."""

    version: str
    problem: str
    """What is wrong with a newer file; the last good one stays in force."""
    classes: list[Class]
    default: str
    operator: str
    trust_claimed_roles: bool
    """Whether a role that an agent gave itself lifts its class."""
    roles: dict[str, str]
    identities: list[dict[str, str]]
    aging: float
    grace: float
    queue: int
    burst: int
    per_second: float
    gates: dict[str, str]
    high_traffic: dict[str, Any]


class Explained(Answer):
    """What a request would get just now, and by which rule."""

    answer: Literal["granted", "renewed", "queued", "held", "deadlock", "refused"]
    rule: str
    rank: int
    name: str
    """Of the class."""
    clamped: bool
    version: str
    high_traffic: bool
    ttl: float
    """Seconds."""
    why: str
    note: str
    """What keeps the class from being a higher one, as a role that is claimed and not verified."""
    holders: list[Holder]
    position: int
    cycle: list[str]
