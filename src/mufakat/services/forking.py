"""Going on in a branch from a copy of the parent's engine session, where that tells no more."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager

from mufakat.core.base import AgentId, MessageId
from mufakat.core.pack import branch_told, deliver, parity
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.deliver import Delivery
from mufakat.core.pack.facts import Facts
from mufakat.core.talk import branch_fork
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.branch import Branch
from mufakat.core.talk.branch_fork import Fork, Source
from mufakat.core.talk.session import Fresh, Session
from mufakat.core.talk.turn import Status
from mufakat.ports.engine import Engine
from mufakat.ports.library import Gathered
from mufakat.ports.store import Transaction
from mufakat.services.request import Ask

PAGE = 200
"""Turns of the parent that are looked through for one that came after the checkpoint."""


def source(tx: Transaction, agent: AgentId | None) -> Source | None:
    """The session that an agent's first turn in a branch may be copied from.

    None where its conversation is no branch, or it has a session of its own.
    """
    seat = tx.agents.get(agent) if agent else None
    one = tx.branches.get(seat.conversation) if seat else None
    if seat is None or one is None or tx.agents.session(seat.id) is not None:
        return None
    theirs = seat_above(tx, one, seat)
    kept = tx.agents.session(theirs.id) if theirs else None
    ends = theirs is not None and kept is not None and _ends(tx, one, theirs, kept.told)
    system = tx.packs.text(kept.system) if kept and kept.system else ""
    return Source(kept, one.number, ends, system or "")


def seat_above(tx: Transaction, one: Branch, seat: Agent) -> Agent | None:
    """The same agent in the parent: of the same engine, role and persona."""
    return tx.agents.find(one.parent, engine=seat.engine, role=seat.role, persona=seat.persona)


def _ends(tx: Transaction, one: Branch, theirs: Agent, told: frozenset[str]) -> bool:
    """Whether the checkpoint is the last thing that a session saw, and it remembers it.

    Its newest turn must be the one that answered with the checkpoint: one that failed or is
    still under way may have told the engine more than our records say.
    """
    checkpoint = tx.messages.get(MessageId(one.checkpoint))
    answered = tx.turns.get(checkpoint.turn) if checkpoint and checkpoint.turn else None
    if answered is None or answered.agent != theirs.id or answered.status is not Status.DONE:
        return False
    if answered.answer != one.checkpoint or f"m:{one.number}" not in parity.message_ranks(told):
        return False
    newest = tx.turns.list(conversation=one.parent, limit=PAGE)
    later = [each for each in newest if each.id > answered.id]
    return len(later) < PAGE and not any(each.agent == theirs.id for each in later)


def decide(ask: Ask, of: Source, gathered: Gathered, engine: Engine) -> Fork | Fresh:
    """Whether a first turn goes on in a copy; every refusal says why."""
    if ask.fresh:
        return Fresh("a fresh session was asked for")
    able = engine.capabilities.fork and engine.capabilities.resume
    return branch_fork.decide(
        of,
        gathered.place,
        engine=engine.name,
        model=ask.model,
        able=able,
        head_is_ancestor=gathered.head_is_ancestor,
    )


def copied(ask: Ask, of: Source, gathered: Gathered, engine: Engine) -> Session | None:
    """The session that is copied; None where none is."""
    decision = decide(ask, of, gathered, engine)
    return decision.session if isinstance(decision, Fork) else None


def delivered(
    pack: Pack, fork: Fork, facts: Facts, of: Source | None, *, engine: Engine
) -> tuple[Delivery, Session]:
    """What the copy is told, only what it does not know; and the session as the branch sees it."""
    parent = facts.origin.parent if facts.origin else ""
    told = branch_told.carried(pack.sections, fork.session.told, parent=parent)
    delivery = deliver.resumed(
        pack,
        told,
        system=of.system if of else "",
        splits_system=engine.capabilities.splits_system,
        expands_at=engine.capabilities.expands_at,
    )
    return delivery, dataclasses.replace(fork.session, told=told)


class Guard:
    """Keeps the session that is copied from growing meanwhile.

    The agent in the parent waits with its next turn until the copy has been taken, because what
    its engine writes there would be in the copy too.
    """

    def __init__(self, locks: MutableMapping[AgentId, asyncio.Lock]) -> None:
        """`locks` are those that turns of agents take."""
        self._locks = locks

    @asynccontextmanager
    async def held(self, above: AgentId | None, taken: asyncio.Event) -> AsyncIterator[None]:
        """Hold the agent back until `taken` is set, or this ends."""
        lock = self._locks.setdefault(above, asyncio.Lock()) if above else None
        if lock is None or lock.locked():
            # Its turn under way is in the store, so that its session is not copied.
            yield
            return
        await lock.acquire()
        letting = asyncio.create_task(_release(lock, taken))
        try:
            yield
        finally:
            taken.set()
            await letting


async def _release(lock: asyncio.Lock, taken: asyncio.Event) -> None:
    await taken.wait()
    lock.release()


def above(tx: Transaction, agent: Agent) -> AgentId | None:
    """Whose session an agent's next turn may copy; None where it will not."""
    one = tx.branches.get(agent.conversation)
    if one is None or tx.agents.session(agent.id) is not None:
        return None
    theirs = seat_above(tx, one, agent)
    return theirs.id if theirs else None
