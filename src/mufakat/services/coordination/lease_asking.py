"""From a request to what is wanted: one spelling of every resource, and the class by policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mufakat.core import text
from mufakat.core.base import InvalidInput, NotAllowed
from mufakat.core.coordination import asking, pattern, policy, resource
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.lease import Mode, Wanted
from mufakat.core.coordination.policy import Policy, Refused
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.resource import Kind
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import agents, credentials


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted, for how long the asker would wait, and what the policy has against it."""

    wanted: Wanted
    wait: int
    """Milliseconds."""
    clamped: bool = False
    claimed: str = ""
    """A role that counts for nothing above the default class, as nobody granted it."""
    refused: Refused | None = None


async def spelled(store: Store, by: Principal, resources: Sequence[str]) -> tuple[str, ...]:
    """Make paths absolute from the caller's project and free of links; the rest stays as it is."""
    if not any(is_path(one) for one in resources):
        return tuple(resources)
    base = await store.read(lambda tx: _base(tx, by.identity))
    return tuple(real(one, base) for one in resources)


async def literal(store: Store, by: Principal, paths: Sequence[str]) -> tuple[str, ...]:
    """Files as they are named, wildcards in their names too: absolute, and free of links."""
    base = await store.read(lambda tx: _base(tx, by.identity))
    return tuple(_real_path(path, base) for path in paths)


def wanted(
    tx: Transaction, by: Principal, request: Request, rules: Policy, *, high_traffic: bool = False
) -> Asked:
    """What a checked request wants; raises InvalidInput, NotAllowed, NotFound for the deputy."""
    if not by.identity:
        raise NotAllowed("A joiner holds no leases.", fix="Join first, and use that token.")
    roots = tuple(one.path for one in tx.projects.list())
    given = ranked(tx, by, rules, request.rank)
    asked_ttl = asking.milliseconds(request.ttl_seconds)
    found = Wanted(
        holder=by.identity,
        resources=keys(request.resources, roots),
        mode=Mode(request.mode),
        slots=request.slots,
        ttl=policy.ttl(rules, asked_ttl, high_traffic=high_traffic),
        reason=text.one_line(request.reason, asking.REASON_CHARS),
        next_step=request.next_step,
        deputy=_deputy(tx, by, request.deputy),
        rank=given.rank,
    )
    return Asked(
        found,
        wait=round(request.wait_seconds * 1000),
        clamped=given.clamped,
        claimed=given.claimed,
        refused=policy.too_broad(rules, found, roots=roots),
    )


def keys(resources: Sequence[str], roots: Sequence[str]) -> tuple[str, ...]:
    """Canonical keys, sorted and without doubles; raises InvalidInput for the first wrong one."""
    found = set()
    for one in resources:
        key = resource.parse(one, roots=roots)
        if isinstance(key, resource.Refused):
            raise InvalidInput(key.why, fix=key.fix)
        found.add(str(key))
    return tuple(sorted(found))


def ranked(tx: Transaction, by: Principal, rules: Policy, asked: int | None) -> policy.Ranked:
    """The class of a caller."""
    role = _role(tx, by.identity)
    return policy.rank(rules, by.identity, role=role, operator=by.operator, asked=asked)


def rank_of(tx: Transaction, identity: str, rules: Policy) -> int:
    """The class of an agent that did not ask itself."""
    return policy.rank(rules, identity, role=_role(tx, identity), asked=None).rank


def is_path(text: str) -> bool:
    """Whether a resource is spelled as a path."""
    kind, _, name = text.partition(":")
    return kind == Kind.FILE or (kind == Kind.REPO and name[:1] in {"/", "."})


def real(text: str, base: str) -> str:
    """A path resource from the root on, links before its first wildcard resolved.

    What cannot be resolved stays as it is: whoever reads it says what is wrong.
    """
    kind, _, name = text.partition(":")
    parts = name.split("/")
    relative = not name.startswith("/")
    hopeless = ".." in parts or not parts[-1] or (relative and not base)
    if not is_path(text) or hopeless:
        return text
    wild = next((at for at, part in enumerate(parts) if pattern.is_pattern(part)), len(parts))
    try:
        head = Path(base if relative else "/", *parts[:wild]).resolve()
    except (OSError, RuntimeError, ValueError):
        return text
    rest = "".join(f"/{part}" for part in parts[wild:])
    return f"{kind}:{pattern.literal(str(head)).rstrip('/')}{rest}"


def _real_path(path: str, base: str) -> str:
    try:
        return str(Path(base or "/", path).resolve())
    except (OSError, RuntimeError, ValueError):
        return path


def _role(tx: Transaction, identity: str) -> policy.Role:
    """An agent's role; runs of ours have theirs from who started them, others from who let them in.

    A session that joins again by the join token claims its role anew.
    """
    instance = tx.instances.get(identity)
    if instance is None:
        return policy.NO_ROLE
    granted = agents.ours(instance) or credentials.role_granted(tx, instance)
    return policy.Role(instance.role, granted)


def _base(tx: Transaction, identity: str) -> str:
    instance = tx.instances.get(identity)
    if instance is None or instance.project is None:
        return ""
    project = tx.projects.get(instance.project)
    return project.path if project is not None else ""


def _deputy(tx: Transaction, by: Principal, name: str) -> str:
    if not name:
        return ""
    instance = tx.instances.get(by.identity)
    return agents.resolve(tx, name, project=instance.project if instance else None).identity
