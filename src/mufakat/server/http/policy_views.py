"""The lease policy as JSON data, its times in seconds like everywhere on the wire."""

from __future__ import annotations

from mufakat.core.coordination.policy import NAMES, Class, Policy
from mufakat.server.http import lease_views
from mufakat.server.http.views import Json
from mufakat.services.coordination.policy import Explained
from mufakat.services.coordination.rulebook import Edition


def edition(one: Edition) -> Json:
    """The policy in force, and what is wrong with a newer one."""
    rules = one.policy
    return {
        "version": one.version,
        "problem": one.problem,
        "classes": [classed(name, found) for name, found in zip(NAMES, rules.classes, strict=True)],
        "default": NAMES[rules.default],
        "operator": NAMES[rules.operator],
        "trust_claimed_roles": rules.trust_claimed_roles,
        "roles": {role: NAMES[rank] for role, rank in rules.roles.items()},
        "identities": [
            {"pattern": pattern, "class": NAMES[rank]} for pattern, rank in rules.identities
        ],
        "aging": rules.aging / 1000,
        "grace": rules.grace / 1000,
        "queue": rules.queue,
        "burst": rules.acquires.burst,
        "per_second": rules.acquires.per_second,
        "gates": {role: rule.value for role, rule in rules.gates.items()},
        "high_traffic": _high_traffic(rules),
    }


def classed(name: str, one: Class) -> Json:
    """What holds for a class."""
    return {
        "name": name,
        "preemption": one.preemption.value,
        "max_hold": one.max_hold / 1000,
        "min_hold": one.min_hold / 1000,
        "leases": one.leases,
        "broad": one.broad,
    }


def _high_traffic(rules: Policy) -> Json:
    mode = rules.high_traffic
    return {
        "wait_on": mode.wait_on / 1000,
        "wait_off": mode.wait_off / 1000,
        "depth_on": mode.depth_on,
        "depth_off": mode.depth_off,
        "max_ttl": mode.max_ttl / 1000,
    }


def explained(one: Explained) -> Json:
    """What a request would get, and by which rule."""
    return {
        "answer": one.answer,
        "rule": one.rule.value,
        "rank": one.rank,
        "name": one.name,
        "clamped": one.clamped,
        "version": one.version,
        "high_traffic": one.high_traffic,
        "ttl": one.ttl / 1000,
        "why": one.why,
        "note": one.note,
        "holders": [lease_views.holder(found) for found in one.holders],
        "position": one.position,
        "cycle": list(one.cycle),
    }
