"""Waiting for agents: conditions on their states, and reactions that fire when they hold."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mufakat.core.base import Millis, ProjectId
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.state import State

ROLE = "role:"
FIRED = 500
"""Keys that a rule remembers: one for every instance it has fired for."""


class Action(StrEnum):
    """What a reaction does."""

    SEND = "send"
    ENQUEUE = "enqueue"
    """Ask an agent: the turn it starts."""
    RELEASE = "release"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class Condition:
    """Agents that must be in one of the states."""

    who: str
    """Identity, unique prefix, alias or `role:…`."""
    states: frozenset[State]
    seconds: float = 0.0
    """For so long without a change of the state."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """A stored rule; fires once for each (rule, run, revision)."""

    id: str
    project: ProjectId
    owner: str
    condition: Condition
    action: Action
    data: tuple[tuple[str, str], ...] = ()
    """Arguments of the action."""
    once: bool = True
    created: Millis = Millis(0)
    fired: tuple[str, ...] = ()
    """Keys `identity/run/revision` it has fired for; the newest of each identity is kept."""
    pending: tuple[str, ...] = ()
    """Keys it has fired for whose act outside the store (a turn, a call) is still to be done."""
    done: bool = False
    """Fires no more; what is pending is still to be done."""

    @property
    def to(self) -> str:
        """Identity that its turn goes to; empty where it starts none of a known agent."""
        return dict(self.data).get("to", "") if self.action is Action.ENQUEUE else ""


def concerns(condition: Condition, instance: Instance, *, project: ProjectId | None) -> bool:
    """Whether an instance is one that the condition names; roles are those of a project."""
    if condition.who == instance.identity:
        return True
    role = condition.who.removeprefix(ROLE) if condition.who.startswith(ROLE) else ""
    return bool(role) and role == instance.role and (not project or project == instance.project)


def due(condition: Condition, instance: Instance) -> Millis | None:
    """When the condition holds for an instance if nothing changes; None where it does not."""
    standing = instance.standing
    if standing.state not in condition.states:
        return None
    return Millis(standing.since + round(condition.seconds * 1000))


def holds(condition: Condition, instances: Sequence[Instance], *, now: Millis) -> bool:
    """Whether everybody whom the condition names is in one of the states, and somebody is."""
    times = [due(condition, one) for one in instances]
    return bool(times) and all(at is not None and at <= now for at in times)


def key(instance: Instance) -> str:
    """What a rule fires once for: this standing of this run."""
    standing = instance.standing
    return f"{instance.identity}/{standing.run}/{standing.revision}"


def fire(reaction: Reaction, instance: Instance, *, now: Millis) -> Reaction | None:
    """The rule after it has fired for an instance, or None where it does not fire now."""
    at = due(reaction.condition, instance)
    mine = concerns(reaction.condition, instance, project=reaction.project)
    fired = key(instance) in reaction.fired
    if reaction.done or fired or not mine or at is None or at > now:
        return None
    outside = reaction.action in {Action.ENQUEUE, Action.WEBHOOK}
    pending = (*reaction.pending, key(instance)) if outside else reaction.pending
    return dataclasses.replace(
        reaction, fired=_newest(reaction, instance), pending=pending, done=reaction.once
    )


def carry(reaction: Reaction, before: Instance, after: Instance) -> Reaction:
    """The rule after a change within one state: what it fired for is still the same thing."""
    kept = before.standing.run == after.standing.run and (
        before.standing.state is after.standing.state
    )
    if not kept or key(before) not in reaction.fired:
        return reaction
    return dataclasses.replace(reaction, fired=_newest(reaction, after))


def _newest(reaction: Reaction, instance: Instance) -> tuple[str, ...]:
    others = [one for one in reaction.fired if one.rsplit("/", 2)[0] != instance.identity]
    return (*others, key(instance))[-FIRED:]


def done(reaction: Reaction, fired: str) -> Reaction:
    """The rule after the act outside the store for one key is done with."""
    left = tuple(one for one in reaction.pending if one != fired)
    return dataclasses.replace(reaction, pending=left)


def circle(reactions: Iterable[Reaction], instances: Sequence[Instance]) -> tuple[str, ...]:
    """Identities that would start each other's turns for ever, in their order; else empty.

    A rule that fires once ends by itself and closes no circle.
    """
    edges: dict[str, set[str]] = {}
    for rule in reactions:
        if rule.done or rule.once or not rule.to:
            continue
        for one in instances:
            if concerns(rule.condition, one, project=rule.project):
                edges.setdefault(one.identity, set()).add(rule.to)
    found = (_round(start, edges) for start in sorted(edges))
    return next((path for path in found if path), ())


def _round(start: str, edges: Mapping[str, set[str]]) -> tuple[str, ...]:
    """The shortest way from `start` back to it."""
    paths: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    for path in paths:
        then = edges.get(path[-1], set())
        if start in then:
            return path
        fresh = sorted(then - seen)
        seen.update(fresh)
        paths.extend((*path, one) for one in fresh)
    return ()
