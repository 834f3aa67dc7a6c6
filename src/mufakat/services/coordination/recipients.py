"""Who a message goes to: names become instances in the step that sends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import ConversationId, InvalidInput, NotFound, ProjectId
from mufakat.core.coordination import identity, sending
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.sending import ROLE, TOPIC
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.store import Transaction
from mufakat.services.coordination import agents

TOPICS = 200
"""Newest conversations of a project among which a topic is looked for."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """Recipients as they stand now."""

    to: tuple[str, ...]
    """For the envelope: identities in place of prefixes and aliases."""
    instances: tuple[Instance, ...]
    held: tuple[str, ...] = ()
    """Names that nobody has yet."""
    thread: ConversationId | None = None
    """Of the first topic among them."""


def resolve(
    tx: Transaction,
    names: Sequence[str],
    *,
    sender: str,
    project: ProjectId | None,
    hold: bool = False,
) -> Resolved:
    """Resolve names; raises NotFound with the nearest ones, unless they are to be held."""
    to: dict[str, None] = {}
    found: dict[str, Instance] = {}
    held: dict[str, None] = {}
    thread = None
    for name in names:
        try:
            meant, topic = _members(tx, name, sender=sender, project=project)
        except NotFound:
            # Identities are drawn at random: one that nobody has will never come.
            if not hold or identity.parse(name) is not None:
                raise
            held[name] = to[name] = None
            thread = thread or _nobody_follows(tx, name, project=project)
            continue
        thread = thread or topic
        found |= {one.identity: one for one in meant}
        to[name if name.startswith((ROLE, TOPIC)) else meant[0].identity] = None
    sending.count([*found, *held])
    return Resolved(tuple(to), tuple(found.values()), tuple(held), thread)


def _members(
    tx: Transaction, name: str, *, sender: str, project: ProjectId | None
) -> tuple[Sequence[Instance], ConversationId | None]:
    if name.startswith(ROLE):
        role = name.removeprefix(ROLE)
        others = [
            one for one in tx.instances.in_role(role, project=project) if one.identity != sender
        ]
        if not others:
            raise NotFound(f"Nobody else here is in the role {role}.", fix=agents.FIX)
        return others, None
    if name.startswith(TOPIC):
        thread = topic(tx, name.removeprefix(TOPIC), project=project)
        names = [one.identity for one in tx.members.of(thread.id) if one.identity != sender]
        followers = [one for one in map(tx.instances.get, names) if one is not None]
        if not followers:
            raise NotFound(f"Nobody else follows {thread.title}.", fix="Name somebody in `to`.")
        return followers, thread.id
    one = agents.resolve(tx, name, project=project)
    if one.identity == sender:
        raise InvalidInput(f"{name} is yourself.", fix="Name somebody else.")
    return [one], None


def topic(tx: Transaction, name: str, *, project: ProjectId | None) -> Conversation:
    """A thread by its title or id; raises NotFound."""
    for one in tx.conversations.list(project=project, limit=TOPICS):
        if name in (one.id, one.title) or name.casefold() == one.title.casefold():
            return one
    raise NotFound(f"There is no topic {name}.", fix="List them: mufakat conversations.")


def _nobody_follows(
    tx: Transaction, name: str, *, project: ProjectId | None
) -> ConversationId | None:
    """The thread of a topic that is there already, though nobody hears of it yet."""
    if not name.startswith(TOPIC):
        return None
    try:
        return topic(tx, name.removeprefix(TOPIC), project=project).id
    except NotFound:
        return None
