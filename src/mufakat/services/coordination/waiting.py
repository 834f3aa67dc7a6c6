"""Waiting for agents: long polls, and the rules of those who do not want to wait."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import (
    Event,
    InvalidInput,
    NotFound,
    ProjectId,
    Revision,
)
from mufakat.core.coordination import waiting
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.waiting import ROLE, Action, Condition, Reaction
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import ids
from mufakat.services.coordination import act, agents, reactions

CONDITIONS = 32
LONGEST = 600.0
"""Seconds that one call waits."""


@dataclass(frozen=True, slots=True)
class Met:
    """How a wait ended, and who fulfilled which of its conditions."""

    met: bool
    instances: tuple[Instance, ...] = ()


class Waiting:
    """Waits, and keeps rules for those who do not want to."""

    def __init__(self, store: Store, scrub: Scrub) -> None:
        self._store = store
        self._scrub = scrub

    async def wait(
        self, by: Principal, conditions: Sequence[Condition], *, every: bool, seconds: float
    ) -> Met:
        """Wait until every (or any) condition holds, or the time is over.

        Raises InvalidInput, and NotFound for somebody who is not there and never was.
        """
        if not 0 < len(conditions) <= CONDITIONS:
            raise InvalidInput(f"Give 1 to {CONDITIONS} conditions.")
        wanted = await self._store.read(lambda tx: [_settled(tx, by, one) for one in conditions])
        loop = asyncio.get_running_loop()
        until = loop.time() + min(max(seconds, 0.0), LONGEST)
        while True:
            head, found, pause = await self._store.read(lambda tx: _look(tx, by, wanted))
            fulfilled = [one for one in found if one]
            if len(fulfilled) == len(wanted) or (fulfilled and not every):
                return Met(True, tuple(one for group in fulfilled for one in group))
            left = until - loop.time()
            if left <= 0:
                return Met(False, tuple(one for group in fulfilled for one in group))
            await self._store.wait(head, seconds=min(left, pause))

    async def react(
        self,
        by: Principal,
        condition: Condition,
        action: Action,
        data: Sequence[tuple[str, str]] = (),
        once: bool = True,
    ) -> Reaction:
        """Keep a rule; it fires at once where its condition holds already.

        Raises InvalidInput, NotFound, NotAllowed, and Conflict where rules would start each
        other's turns for ever.
        """

        def step(tx: Transaction) -> Reaction:
            wanted = _settled(tx, by, condition)
            rule = Reaction(
                id=ids.new("x", tx.now()),
                project=_project(tx, by, wanted),
                owner=by.identity,
                condition=wanted,
                action=action,
                data=act.checked(tx, by, action, data, scrub=self._scrub),
                once=once,
                created=tx.now(),
            )
            reactions.refuse_circle(tx, rule)
            tx.reactions.keep(rule)
            added = {"who": wanted.who, "action": action.value, "owner": rule.owner}
            tx.events.record(Event("reaction.added", rule.id, added))
            for one in reactions.concerned_by(tx, rule):
                rule = reactions.fire(tx, rule, one)
            return rule

        return await self._store.write(step)

    async def list(self, by: Principal) -> Sequence[Reaction]:
        """Rules that still fire or still have an act to do; an agent sees its own."""
        rules = await self._store.read(lambda tx: tx.reactions.active())
        return [one for one in rules if by.acts_for(one.owner)]

    async def remove(self, by: Principal, id: str) -> Reaction:
        """Keep a rule from firing again; raises NotFound or NotAllowed."""
        rule = await self._store.read(lambda tx: tx.reactions.get(id))
        if rule is None:
            raise NotFound(f"There is no reaction {id}.", fix="List them: mufakat reactions list")
        await agents.only_self(self._store, by, rule.owner, act="reaction.remove")

        def step(tx: Transaction) -> Reaction:
            ended = dataclasses.replace(tx.reactions.get(id) or rule, done=True, pending=())
            tx.reactions.keep(ended)
            tx.events.record(Event("reaction.removed", id, {"by": by.identity}))
            return ended

        return await self._store.write(step)


def _settled(tx: Transaction, by: Principal, condition: Condition) -> Condition:
    """The condition with its name resolved, so that it means the same for ever."""
    if not condition.states:
        raise InvalidInput("A condition needs a state.", fix="Give one or more states.")
    if not 0 <= condition.seconds <= 86_400:
        raise InvalidInput("`seconds` is from 0 to 86400.")
    own = _own_project(tx, by)
    if condition.who.startswith(ROLE):
        if own is None and not by.operator:
            raise InvalidInput("Roles are those of a project, and you are in none.")
        return condition
    who = by.identity if condition.who == "me" else condition.who
    found = agents.resolve(tx, who, project=own)
    if not by.operator and found.project != own:
        raise agents.missing(tx, who, project=own)
    return dataclasses.replace(condition, who=found.identity)


def _own_project(tx: Transaction, by: Principal) -> ProjectId | None:
    own = None if by.operator else tx.instances.get(by.identity)
    return own.project if own else None


def _project(tx: Transaction, by: Principal, condition: Condition) -> ProjectId:
    named = tx.instances.get(condition.who)
    return (named.project if named else _own_project(tx, by)) or ProjectId("")


def _look(
    tx: Transaction, by: Principal, conditions: Sequence[Condition]
) -> tuple[Revision, list[tuple[Instance, ...]], float]:
    """The log's head, who fulfils each condition (nobody where it does not hold), and a pause."""
    now, project = tx.now(), _own_project(tx, by)
    found: list[tuple[Instance, ...]] = []
    pause = LONGEST
    for condition in conditions:
        group = reactions.concerned(tx, condition, project=project)
        found.append(tuple(group) if waiting.holds(condition, group, now=now) else ())
        ahead = [at - now for one in group if (at := waiting.due(condition, one)) is not None]
        pause = min([pause, *(ms / 1000 + 0.001 for ms in ahead if ms > 0)])
    return tx.events.head(), found, pause
