"""Messages kept for who comes later: handed over in the step in which somebody fits."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.base import ProjectId
from mufakat.core.coordination import delivery, newcomer
from mufakat.core.coordination.inbox import Delivery, Status
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.newcomer import Newcomer, Topic
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.coordination import Member
from mufakat.ports.store import Transaction
from mufakat.services.coordination import marks

AT_ONCE = 10_000
"""Kept messages that one arrival looks at, newest first; they live for a week at most."""


def arrived(tx: Transaction, instance: Instance) -> None:
    """Deliver what was kept for an alias, a role, an identity or a topic of a newcomer."""
    kept = tx.inbox.with_status(Status.HELD, limit=AT_ONCE)
    if not kept:
        return
    threads = tx.members.threads(instance.identity)
    followed = [tx.conversations.get(one.conversation) for one in threads]
    _hand_over(tx, kept, instance, [one for one in followed if one is not None])


def follow(tx: Transaction, member: Member) -> None:
    """Let somebody follow a thread, and deliver what was kept for its followers."""
    if not tx.members.join(member):
        return
    kept = tx.inbox.with_status(Status.HELD, limit=AT_ONCE)
    instance, thread = tx.instances.get(member.identity), tx.conversations.get(member.conversation)
    if kept and instance is not None and thread is not None:
        _hand_over(tx, kept, instance, [thread])


def _hand_over(
    tx: Transaction, kept: Sequence[Delivery], instance: Instance, followed: Sequence[Conversation]
) -> None:
    """Deliver those that are meant for an instance, oldest first."""
    for row in reversed(kept):
        envelope = tx.inbox.envelope(row.message)
        thread = tx.conversations.get(envelope.conversation) if envelope else None
        if envelope is None or thread is None or envelope.sender == instance.identity:
            continue
        # An alias may be given in several projects, and a title too.
        reached = instance.project in {None, thread.project}
        if reached and newcomer.meant(row.recipient, _as(instance, followed, thread.project)):
            _deliver(tx, row, instance.identity)


def _as(instance: Instance, followed: Sequence[Conversation], project: ProjectId) -> Newcomer:
    topics = tuple(Topic(one.id, one.title) for one in followed if one.project == project)
    return Newcomer(instance.identity, instance.alias, instance.role, topics)


def _deliver(tx: Transaction, row: Delivery, identity: str) -> None:
    if tx.inbox.get(identity, row.message) is None:
        fresh = Delivery(identity, 0, row.message, Status.QUEUED, tx.now())
        marks.announce(tx, tx.inbox.deliver(fresh))
    note = f"delivered to {identity}"
    tx.inbox.keep(delivery.move(row, Status.ACKED, at=tx.now(), note=note))
