"""Stored rules: they fire in the step that fulfils them, and what is outside it stays pending."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from mufakat.core.base import Conflict, Event, Millis, ProjectId, TurnId
from mufakat.core.coordination import waiting
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.state import State
from mufakat.core.coordination.waiting import ROLE, Condition, Reaction
from mufakat.core.talk.turn import FINAL
from mufakat.ports.store import Transaction
from mufakat.services.coordination import act, agents

EVERYBODY = 10_000


def changed(tx: Transaction, before: Instance, after: Instance) -> None:
    """Fire the rules that a change of state fulfils, in the step of the change."""
    after = _as_known(tx, after)
    for stored in tx.reactions.active():
        rule = waiting.carry(stored, before, after)
        if rule is not stored:
            tx.reactions.keep(rule)
        fire(tx, rule, after)


def evaluate(tx: Transaction) -> None:
    """Fire every rule whose condition holds now: at start-up, and when a time has passed."""
    for stored in tx.reactions.active():
        rule = stored
        for one in concerned_by(tx, rule):
            rule = fire(tx, rule, one)


def earliest(tx: Transaction) -> Millis | None:
    """When the next rule fires if nothing changes."""
    times = [
        at
        for rule in tx.reactions.active()
        if not rule.done
        for one in concerned_by(tx, rule)
        if waiting.key(one) not in rule.fired
        and (at := waiting.due(rule.condition, one)) is not None
    ]
    return min(times, default=None)


def fire(tx: Transaction, rule: Reaction, one: Instance) -> Reaction:
    """Fire a rule for an instance where its time has come; answers the rule as it is then."""
    fired = waiting.fire(rule, one, now=tx.now())
    if fired is None:
        return rule
    circle = _circle(tx, rule)
    if circle:
        # Who is in a role changes after the rule was made.
        fired = dataclasses.replace(rule, done=True)
        tx.reactions.keep(fired)
        tx.events.record(Event("reaction.stopped", rule.id, {"cycle": list(circle)}))
        return fired
    tx.reactions.keep(fired)
    data = {"identity": one.identity, "run": one.standing.run, "action": rule.action.value}
    tx.events.record(Event("reaction.fired", rule.id, data))
    act.now(tx, fired, one)
    # The act may itself have changed the rule.
    return tx.reactions.get(rule.id) or fired


def refuse_circle(tx: Transaction, rule: Reaction) -> None:
    """Raise Conflict where a new rule would close a circle that never ends."""
    circle = _circle(tx, rule)
    if circle:
        raise Conflict(
            f"These rules would start each other's turns for ever: {' → '.join(circle)}.",
            fix="Let one of them fire once.",
            cycle=list(circle),
        )


def _circle(tx: Transaction, rule: Reaction) -> tuple[str, ...]:
    if rule.once or not rule.to:
        return ()
    rules = [rule, *(one for one in tx.reactions.active() if one.id != rule.id)]
    people = {one.identity: one for each in rules for one in concerned_by(tx, each)}
    return waiting.circle(rules, tuple(people.values()))


def concerned_by(tx: Transaction, rule: Reaction) -> Sequence[Instance]:
    """Everybody whom a rule is about."""
    return concerned(tx, rule.condition, project=rule.project or None)


def concerned(
    tx: Transaction, condition: Condition, *, project: ProjectId | None
) -> Sequence[Instance]:
    """Everybody whom a condition names: one instance, or those in a role.

    Who is offline is in no role, but where the condition waits for just that.
    """
    return [_as_known(tx, one) for one in _named(tx, condition, project=project)]


def _named(
    tx: Transaction, condition: Condition, *, project: ProjectId | None
) -> Sequence[Instance]:
    role = condition.who.removeprefix(ROLE)
    if role == condition.who:
        found = tx.instances.get(condition.who)
        return () if found is None else (found,)
    if State.OFFLINE not in condition.states:
        return tx.instances.in_role(role, project=project)
    everybody = tx.instances.list(project=project, limit=EVERYBODY)
    return [one for one in everybody if one.role == role]


def _as_known(tx: Transaction, one: Instance) -> Instance:
    """An instance for those who wait for it: it works until what it says last can be read.

    The stop hook of an engine lets its agent go before the answer of the turn is stored.
    """
    standing = one.standing
    if standing.state is not State.IDLE or not agents.ours(one):
        return one
    going_on = tx.turns.get(TurnId(standing.run))
    if going_on is None or going_on.status in FINAL:
        return one
    return dataclasses.replace(one, standing=dataclasses.replace(standing, state=State.WORKING))
