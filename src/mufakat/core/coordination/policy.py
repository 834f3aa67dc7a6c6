"""The priority policy: who is of which class, how long they may hold, and who gives way to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from mufakat.core.coordination import gate, lease, pattern, resource
from mufakat.core.coordination.flood import Rate
from mufakat.core.coordination.lease import Rule

NAMES = ("batch", "normal", "high", "incident")
"""Of the classes 0 to 3."""


class Preemption(StrEnum):
    """How somebody of a higher class gets what this class holds."""

    NEVER = "never"
    ASK = "ask"
    """The holder is told, and decides."""
    GRACE = "grace"
    """The holder is told, and has some time to give it back."""
    NOW = "now"


@dataclass(frozen=True, slots=True)
class Class:
    """What holds for everybody of one class. Times in milliseconds."""

    preemption: Preemption = Preemption.GRACE
    max_hold: int = lease.MAX_HOLD
    """While somebody waits nobody renews beyond it."""
    min_hold: int = 30_000
    """Nobody loses a lease to a higher class before."""
    leases: int = 64
    """How many one agent may hold."""
    broad: int = 0
    """How many folders a `**` pattern names below its root at least."""


@dataclass(frozen=True, slots=True)
class HighTraffic:
    """When many wait: leases become shorter until it is quiet again. Times in milliseconds."""

    wait_on: int = 120_000
    """95 of 100 waits were shorter than this; or more were longer, and the mode goes on."""
    wait_off: int = 60_000
    depth_on: int = 32
    """Entries in the queue."""
    depth_off: int = 8
    max_ttl: int = 300_000


@dataclass(frozen=True, slots=True)
class Policy:
    """The whole of it."""

    classes: tuple[Class, Class, Class, Class] = (
        Class(broad=1),
        Class(),
        Class(preemption=Preemption.ASK),
        Class(preemption=Preemption.NEVER),
    )
    default: int = 1
    operator: int = 2
    roles: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    trust_claimed_roles: bool = False
    """Whether a role that an agent gave itself lifts its class as one that was granted does."""
    identities: tuple[tuple[str, int], ...] = ()
    """Patterns of identities; the first that matches counts, before any role."""
    aging: int = lease.AGING
    grace: int = 60_000
    queue: int = lease.QUEUE
    """Entries that may wait for one resource."""
    acquires: Rate = Rate(20, 10.0)
    """Of one session."""
    gates: Mapping[str, gate.Rule] = field(default_factory=lambda: MappingProxyType({}))
    """Which unread messages hold an agent, by role."""
    high_traffic: HighTraffic = HighTraffic()


DEFAULT = Policy()


@dataclass(frozen=True, slots=True)
class Role:
    """What an agent is called by, and whether somebody with the right to do so said it."""

    name: str = ""
    granted: bool = False


NO_ROLE = Role()


@dataclass(frozen=True, slots=True)
class Ranked:
    """The class of a request; `clamped` where it asked for a higher one."""

    rank: int
    clamped: bool = False
    claimed: str = ""
    """The role that would give a higher class, were it granted and not only claimed."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What the policy does not allow."""

    rule: Rule
    why: str
    fix: str


def rank(
    policy: Policy,
    identity: str,
    *,
    role: Role = NO_ROLE,
    operator: bool = False,
    asked: int | None,
) -> Ranked:
    """The class of a request: what the policy gives, or the lower one that was asked for."""
    given = _given(policy, identity, role, operator=operator)
    if asked is None:
        return given
    return replace(given, rank=min(given.rank, asked), clamped=asked > given.rank)


def too_broad(policy: Policy, wanted: lease.Wanted, *, roots: tuple[str, ...]) -> Refused | None:
    """Refuse patterns that take in more than the class may have."""
    least = policy.classes[wanted.rank].broad
    for key in wanted.resources:
        breadth = resource.breadth(key, roots=roots)
        if breadth is not None and breadth < least:
            return Refused(
                Rule.TOO_BROAD,
                f"{key} is too broad for class {NAMES[wanted.rank]}.",
                f"Name at least {least} folder{'s' * (least != 1)} below the project before `**`.",
            )
    return None


def over_budget(policy: Policy, wanted: lease.Wanted, *, held: int) -> Refused | None:
    """Refuse who holds as many leases as the class may."""
    limit = policy.classes[wanted.rank].leases
    if held < limit:
        return None
    return Refused(
        Rule.BUDGET,
        f"{wanted.holder} holds {held} leases; class {NAMES[wanted.rank]} may hold {limit}.",
        "Release what is no longer needed.",
    )


def preemption(policy: Policy, asker: lease.Wanted, held: lease.Lease) -> Preemption:
    """How the asker may get what somebody else holds; equal classes never take."""
    if asker.rank <= held.wanted.rank:
        return Preemption.NEVER
    return policy.classes[held.wanted.rank].preemption


def gate_rule(policy: Policy, role: str) -> gate.Rule:
    """Which unread messages hold an agent of a role."""
    return policy.gates.get(role, gate.Rule.ALL)


def ttl(policy: Policy, asked: int, *, high_traffic: bool) -> int:
    """How long a lease lasts."""
    return min(asked, policy.high_traffic.max_ttl) if high_traffic else asked


def busy(policy: Policy, *, before: bool, p95_wait: int, depth: int) -> bool:
    """Whether high-traffic mode is on; it goes off later than it goes on.

    `p95_wait` in milliseconds over the newest waits, `depth` the entries in the queue.
    """
    terms = policy.high_traffic
    if before:
        return p95_wait > terms.wait_off or depth > terms.depth_off
    return p95_wait >= terms.wait_on or depth >= terms.depth_on


def _given(policy: Policy, identity: str, role: Role, *, operator: bool) -> Ranked:
    for text, number in policy.identities:
        if matches(text, identity):
            return Ranked(number)
    if operator:
        return Ranked(policy.operator)
    by_role = policy.roles.get(role.name, policy.default)
    if role.granted or policy.trust_claimed_roles or by_role <= policy.default:
        # Whoever says that it can wait is believed.
        return Ranked(by_role)
    return Ranked(policy.default, claimed=role.name)


def matches(text: str, identity: str) -> bool:
    """Whether a pattern such as `claude@*` names an identity."""
    return pattern.matches(text.replace("/", "|"), identity.replace("/", "|"))
