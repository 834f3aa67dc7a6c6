"""Who shares a conversation, as a pack tells it, and what is new for the one that is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mufakat.core.base import AgentId
from mufakat.core.coordination import digest, identity
from mufakat.core.coordination.digest import Digest
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.state import State
from mufakat.core.pack.facts import Speaker
from mufakat.core.pack.sections import coordination
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction
from mufakat.services.coordination import context
from mufakat.services.coordination.context import Scope

BUSY = frozenset({State.WORKING, State.BLOCKED})
SILENT = frozenset({identity.PERSON, "mufakat"})
"""Engines of no agent."""


def speakers(
    tx: Transaction,
    conversation: Conversation,
    last: Mapping[str, Message],
    *,
    without: Collection[str] = (),
) -> tuple[Speaker, ...]:
    """The agents of a conversation but some, and those that follow it from outside."""
    agents = tx.agents.list(conversation.id)
    seated = {one.identity: one.role for one in agents if one.identity not in without}
    found = [
        _speaker(name, role, tx.instances.get(name), tx=tx, last=last)
        for name, role in seated.items()
    ]
    for member in tx.members.of(conversation.id):
        outside = tx.instances.get(member.identity)
        if outside and member.identity not in {*seated, *without} and outside.engine not in SILENT:
            found.append(_speaker(outside.identity, outside.role, outside, tx=tx, last=last))
    return tuple(found)


def _speaker(
    name: str,
    role: str,
    instance: Instance | None,
    *,
    tx: Transaction,
    last: Mapping[str, Message],
) -> Speaker:
    if instance is None:
        return Speaker(name, role, last.get(name))
    holds = [resource for lease in tx.leases.of(name) for resource in lease.wanted.resources]
    return Speaker(name, role, last.get(name), _state(instance), tuple(sorted(holds)))


def _state(instance: Instance) -> str:
    """A word where there is something to say: that a seat rests between its turns is none."""
    standing = instance.standing
    if instance.agent is not None and standing.state not in BUSY:
        return ""
    return f"{standing.state} on {standing.on}" if standing.on else standing.state.value


def digest_for(
    tx: Transaction, conversation: Conversation, agent: AgentId | None, *, scrub: Scrub
) -> Digest | None:
    """What is new for an agent beside this conversation, which its pack tells anyway."""
    seat = tx.agents.get(agent) if agent else None
    if seat is None or tx.instances.get(seat.identity) is None:
        return None
    scope = Scope(fence=conversation.fence, without=conversation.id)
    news = context.news(tx, seat.identity, coordination.BUDGET, scrub=scrub, scope=scope)
    return digest.render(news, budget=coordination.BUDGET)
