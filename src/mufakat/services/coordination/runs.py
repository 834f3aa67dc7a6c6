"""The runs that Mufakat itself starts: a credential for each, and the states of its agent."""

from __future__ import annotations

import dataclasses

from mufakat.core.base import StaleState
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.state import On, Report, State
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.ports.coordination import Life, Member
from mufakat.ports.store import Transaction
from mufakat.services.coordination import agents, credentials, held, pause, reactions, states


def seat(
    tx: Transaction,
    agent: Agent,
    conversation: Conversation,
    *,
    instance: str = "",
    follows: bool = True,
) -> Instance:
    """The instance of an agent of a conversation, which follows it unless it is told apart."""
    new = tx.instances.get(agent.identity) is None
    seated = agents.seat(
        tx,
        agent.identity,
        instance=instance,
        role=agent.role,
        project=conversation.project,
        agent=agent.id,
    )
    if follows:
        follow(tx, conversation, agent.identity)
    if new:
        held.arrived(tx, seated)
    return seated


def follow(tx: Transaction, conversation: Conversation, identity: str) -> None:
    """Let an instance follow a conversation from its beginning."""
    held.follow(tx, Member(conversation.id, identity, cursor=0))


def begin(
    tx: Transaction,
    agent: Agent,
    conversation: Conversation,
    *,
    run: str,
    told: int,
    follows: bool = True,
) -> str:
    """Start a run, and answer the token that lives as long as it does.

    `told` is the number of the last message that the run is told with its request. A session
    that somebody else joined under this agent's name is superseded. Raises Paused.
    """
    pause.refuse(tx)
    present = seat(tx, agent, conversation, follows=follows)
    if not agents.ours(present):
        # Whoever joined under this agent's name may have called itself something else.
        present = dataclasses.replace(present, role=agent.role)
    if tx.credentials.end(present.identity, Life.SUPERSEDED):
        present = dataclasses.replace(present, epoch=present.epoch + 1)
    if follows:
        tx.members.told(conversation.id, agent.identity, cursor=told)
    begun = states.begin(tx, present, run)
    states.move(tx, begun.identity, Report(State.WORKING, run=run))
    return credentials.issue(tx, begun, run=run)


def asked(tx: Transaction, identity: str, run: str) -> None:
    """Record that a run waits for somebody to permit what it wants."""
    _move(tx, identity, Report(State.BLOCKED, run=run, on=On.APPROVAL))


def went_on(tx: Transaction, identity: str, run: str) -> None:
    """Record that a run that was blocked works again."""
    _move(tx, identity, Report(State.WORKING, run=run))


def end(tx: Transaction, identity: str, run: str, reply: Reply) -> None:
    """Revoke a run's token and record how it ended, where it is the one that is going on."""
    tx.credentials.end(identity, Life.REVOKED, run=run)
    present = tx.instances.get(identity)
    if present is None or present.standing.run != run:
        # It never began, or another one began since.
        return
    _move(tx, identity, _after(tx, present, reply))
    # Its stop hook may have said so before: those who wait for it are let go only now.
    ended = agents.known(tx, identity)
    reactions.changed(tx, ended, ended)


def _after(tx: Transaction, present: Instance, reply: Reply) -> Report:
    run = present.standing.run
    if reply.status is Status.INTERRUPTED or reply.failure is Failure.CRASHED:
        return Report(State.OFFLINE, run=run, on=On.CRASHED)
    if reply.status is Status.FAILED:
        failure = reply.failure.value if reply.failure else ""
        return Report(State.BLOCKED, run=run, on=On.ERROR, detail=failure)
    # The stop gate may have let it go with requests that it has read and not answered.
    let_go = present.standing.debt if present.standing.state is State.IDLE else 0
    return Report(State.IDLE, run=run, debt=max(let_go, states.debt(tx, present.identity)))


def _move(tx: Transaction, identity: str, report: Report) -> None:
    try:
        states.move(tx, identity, report)
    except StaleState:
        # The session's own hooks have told something newer; the turn goes its way all the same.
        return
