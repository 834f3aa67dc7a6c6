"""Who there is: new instances get a name here, and every other name leads to one of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import AgentId, Event, InvalidInput, Millis, NotAllowed, NotFound, ProjectId
from mufakat.core.coordination import identity, state
from mufakat.core.coordination.instance import Binding, Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.state import Standing
from mufakat.ports.store import Store, Transaction
from mufakat.services import ids

RUN = "r_"
"""Ids of runs that begin by joining; those of the runs that Mufakat starts are turns."""
SEEN_EVERY = 30_000
"""Milliseconds in which a call does not count as news of being there."""
FIX = "List them: mufakat agents list"


@dataclass(frozen=True, slots=True)
class Joining:
    """What a session says of itself when it joins; all of it is a claim but the credential."""

    engine: str
    host: str = ""
    """Empty for the host of this server."""
    role: str = ""
    alias: str = ""
    project: str = ""
    """Path of its folder."""
    session: str = ""
    pid: int = 0
    pid_start: int = 0
    boot: str = ""
    cwd: str = ""
    repository: str = ""
    parent: str = ""
    """Identity or engine session that it was forked from."""
    threads: Sequence[str] = ()
    """Conversations to follow."""


@dataclass(frozen=True, slots=True)
class Joined:
    """An instance with its bearer, which is shown this once; empty where the caller has one."""

    instance: Instance
    token: str
    resumed: bool


def register(
    tx: Transaction,
    name: str,
    *,
    instance: str,
    standing: Standing,
    role: str = "",
    alias: str = "",
    project: ProjectId | None = None,
    agent: AgentId | None = None,
    parent: str = "",
    binding: Binding | None = None,
) -> Instance:
    """Store a new instance under an identity that was given out to it, and announce it."""
    engine, _, place = name.partition("@")
    now = tx.now()
    created = Instance(
        identity=name,
        instance=instance,
        engine=engine,
        host=place.partition(":")[0],
        role=role,
        alias=alias,
        project=project,
        agent=agent,
        parent=parent,
        epoch=1,
        binding=binding or Binding(),
        created=now,
        seen=now,
        standing=standing,
    )
    tx.instances.keep(created)
    announce(tx, created, resumed=False)
    return created


def allot(tx: Transaction, engine: str, host: str) -> tuple[str, str]:
    """Give out an identity that nobody has; answers it with its whole random instance id."""
    while True:
        instance = ids.instance()
        shortest = str(identity.assign(engine, host, instance=instance))
        # Only what begins alike can clash.
        taken = tx.agents.identities(shortest)
        taken |= {one.identity for one in tx.instances.find(shortest)}
        name = str(identity.assign(engine, host, instance=instance, taken=frozenset(taken)))
        if tx.instances.get(name) is None:
            return name, instance


def seat(
    tx: Transaction,
    name: str,
    *,
    instance: str = "",
    role: str,
    project: ProjectId,
    agent: AgentId,
) -> Instance:
    """The instance of an agent that Mufakat itself runs, stored where it is new."""
    found = tx.instances.get(name)
    if found is not None:
        return found
    return register(
        tx,
        name,
        # Agents of older databases are known by the leading digits alone.
        instance=instance or name.rpartition(":")[2],
        standing=Standing(state.State.IDLE, tx.now()),
        role=role,
        project=project,
        agent=agent,
    )


def announce(tx: Transaction, instance: Instance, *, resumed: bool) -> None:
    """Tell the log that an instance takes part."""
    data = {
        "epoch": instance.epoch,
        "resumed": resumed,
        "role": instance.role,
        "alias": instance.alias,
        "project": instance.project,
        "parent": instance.parent,
        "state": instance.standing.state.value,
        "on": instance.standing.on.value if instance.standing.on else None,
        "run": instance.standing.run,
    }
    tx.events.record(Event("agent.joined", instance.identity, data))


def known(tx: Transaction, name: str) -> Instance:
    """The instance of an identity; raises NotFound with the nearest names."""
    found = tx.instances.get(name)
    if found is None:
        raise missing(tx, name)
    return found


def resolve(tx: Transaction, name: str, *, project: ProjectId | None = None) -> Instance:
    """The instance that an identity, an alias or a unique prefix means.

    Aliases are those of `project` where it is given; of several the one that is there counts.
    Raises NotFound with the nearest names, or InvalidInput where the name fits several.
    """
    exact = tx.instances.get(name)
    if exact is not None:
        return exact
    found = (_aliased(tx, name, project=project) or tx.instances.find(name)) if name else ()
    by_name = {one.identity: one for one in found}
    chosen = identity.choose(name, tuple(by_name))
    if len(by_name) == 1:
        chosen = next(iter(by_name))
    if chosen is not None:
        return by_name[chosen]
    if not by_name:
        raise missing(tx, name, project=project)
    listed = ", ".join(sorted(by_name)[:5])
    raise InvalidInput(f"{name} fits several agents: {listed}.", fix="Give more of it.")


def _aliased(tx: Transaction, name: str, *, project: ProjectId | None) -> Sequence[Instance]:
    found = [one for one in tx.instances.named(name) if project in {None, one.project}]
    there = [one for one in found if online(one)]
    return there or found[-1:]


def missing(tx: Transaction, name: str, *, project: ProjectId | None = None) -> NotFound:
    """The refusal of a name that nobody has, with those that may have been meant."""
    everybody = tx.instances.list(project=project)
    names = [label for one in everybody for label in (one.identity, one.alias) if label]
    nearest = identity.nearest(name, names)
    meant = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
    return NotFound(f"There is no agent {name}.{meant}", fix=FIX, nearest=list(nearest))


def greet(tx: Transaction, person: str) -> None:
    """Let a person take part; stored once."""
    if tx.instances.get(person) is None:
        standing = Standing(state.State.IDLE, tx.now())
        register(tx, person, instance=person.rpartition(":")[2], standing=standing)


def online(instance: Instance) -> bool:
    """Whether it is there at all."""
    return instance.standing.state is not state.State.OFFLINE


def ours(instance: Instance) -> bool:
    """Whether it is run by Mufakat, and not by somebody who joined with its session."""
    return instance.agent is not None and not instance.standing.run.startswith(RUN)


def called(tx: Transaction, instance: Instance) -> Instance:
    """The instance after a call of its own; kept only when the last one is a while ago."""
    now = tx.now()
    if now - instance.seen < SEEN_EVERY:
        return instance
    seen = dataclasses.replace(instance, seen=Millis(now))
    tx.instances.keep(seen)
    return seen


def expect(tx: Transaction, instance: Instance) -> Instance:
    """Let the next call of an instance count as news, however soon it comes."""
    seen = Millis(min(instance.seen, tx.now() - SEEN_EVERY))
    expected = dataclasses.replace(instance, seen=seen)
    if expected != instance:
        tx.instances.keep(expected)
    return expected


async def only_self(store: Store, by: Principal, name: str, *, act: str) -> None:
    """Let a caller act for itself alone; raises NotAllowed, which the log remembers."""
    if by.acts_for(name):
        return
    event = Event("access.refused", by.identity, {"as": name, "act": act})
    await store.write(lambda tx: tx.events.record(event))
    raise NotAllowed(
        f"This credential does not speak for {name}.",
        fix="Leave the name out: the credential says who you are.",
    )
