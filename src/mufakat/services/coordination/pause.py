"""The kill switch: one durable row that stops every agent until the person lets them go on."""

from __future__ import annotations

import dataclasses

from mufakat.core.base import Event, Paused
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.state import On, Standing, State
from mufakat.ports.coordination import Life
from mufakat.ports.store import Transaction
from mufakat.services.coordination import agents

SYSTEM = "mufakat@localhost:000000"
"""Mufakat itself, under the same name wherever its home is taken; blocked while all is paused."""
EVERYBODY = 100_000


def paused(tx: Transaction) -> bool:
    """Whether the person has paused all agents."""
    system = tx.instances.get(SYSTEM)
    return system is not None and system.standing.state is State.BLOCKED


def refuse(tx: Transaction, by: Principal | None = None) -> None:
    """Raise Paused while agents may not act; the operator always may."""
    if (by is None or not by.operator) and paused(tx):
        raise Paused()


def switch(tx: Transaction, by: Principal, *, on: bool) -> bool:
    """Pause or unpause; the same again changes nothing. Pausing ends every run's credential."""
    if on == paused(tx):
        return on
    kind = "agents.paused" if on else "agents.unpaused"
    revision = tx.events.record(Event(kind, SYSTEM, {"by": by.identity}))
    standing = Standing(
        State.BLOCKED if on else State.IDLE,
        tx.now(),
        on=On.PERSON if on else None,
        revision=revision,
    )
    tx.instances.keep(dataclasses.replace(_system(tx), standing=standing))
    if on:
        for one in tx.instances.list(online=True, limit=EVERYBODY):
            if one.agent is not None and one.standing.run:
                tx.credentials.end(one.identity, Life.REVOKED, run=one.standing.run)
    return on


def _system(tx: Transaction) -> Instance:
    found = tx.instances.get(SYSTEM)
    idle = Standing(State.IDLE, tx.now())
    return found or agents.register(tx, SYSTEM, instance="0" * 32, standing=idle)
