"""What is said in the team chat becomes a message here, once, in the name of who said it."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import (
    ConversationId,
    InvalidInput,
    MessageId,
    NotFound,
    ProjectId,
)
from mufakat.core.coordination import chat, identity, sending, state
from mufakat.core.coordination.chat import Heard, Link
from mufakat.core.coordination.sending import Sending
from mufakat.core.coordination.state import Standing
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction
from mufakat.services import talk
from mufakat.services.coordination import agents, inbox, rooms
from mufakat.services.coordination.inbox import Post
from mufakat.services.coordination.meter import Meter

NAMES = 200
"""Of people and agents that a new name must not look like."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of something that was heard."""

    message: str = ""
    """Empty where it is none: one of our own posts, or one of a bot."""
    duplicate: bool = False


def take(tx: Transaction, link: Link, heard: Heard, *, scrub: Scrub, meter: Meter) -> Taken:
    """Keep what was heard in the step of `tx`; hearing it again changes nothing.

    Raises InvalidInput, TooLarge, TooMany, or NotFound where the link leads nowhere.
    """
    place = conversation(tx, link)
    if heard.own:
        _recognise(tx, link, place, heard)
        return Taken()
    if heard.bot or not heard.text.strip():
        return Taken()
    known = said(tx, link, heard.stamp)
    if known:
        return Taken(known, duplicate=True)
    wanted = Sending(
        to=_meant(tx, heard, place.project),
        thread=place.id,
        body=heard.text,
        reply_to=said(tx, link, heard.thread) if heard.thread else "",
    )
    if wanted.to:
        wanted = _request(wanted)
    sending.check(wanted, key="chat")
    person = _person(tx, heard, place.project)
    meter.take(person, wanted.to, place.id, now=tx.now())
    sent = inbox.post(tx, Post(person, wanted, scrub(heard.text).kinds))
    pair(tx, link, sent.message, stamp=heard.stamp, thread=heard.thread)
    return Taken(sent.message)


def conversation(tx: Transaction, link: Link) -> Conversation:
    """The conversation of a link: one that there is, or the room of a project."""
    if link.conversation:
        return talk.resolve(tx, link.conversation)
    project = talk.ensure_project(tx, link.project, link.project.rpartition("/")[2])
    found = tx.conversations.get(rooms.room(tx, project))
    assert found is not None
    return found


def pair(tx: Transaction, link: Link, message: MessageId, *, stamp: str, thread: str) -> None:
    """Remember that a message here and one there are the same.

    Without a stamp it is only known that the message stands there.
    """
    tx.keys.keep(_there(link, message), "", "")
    if stamp:
        tx.keys.keep(_here(link, stamp), "", message)
        tx.keys.keep(_root(link, message), "", thread or stamp)


def said(tx: Transaction, link: Link, stamp: str) -> str:
    """Our message of a stamp; empty where there is none."""
    found = tx.keys.find(_here(link, stamp))
    return found[1] if found else ""


def stands(tx: Transaction, link: Link, message: MessageId) -> bool:
    """Whether a message is in the channel already."""
    return tx.keys.find(_there(link, message)) is not None


def thread_of(tx: Transaction, link: Link, message: str) -> str:
    """Stamp of the chat's thread that a reply to a message goes into; empty for none."""
    found = tx.keys.find(_root(link, MessageId(message))) if message else None
    return found[1] if found else ""


def _there(link: Link, message: MessageId) -> str:
    return f"chat/{link.channel}/there/{message}"


def _here(link: Link, stamp: str) -> str:
    return f"chat/{link.channel}/here/{stamp}"


def _root(link: Link, message: MessageId) -> str:
    return f"chat/{link.channel}/root/{message}"


def _recognise(tx: Transaction, link: Link, place: Conversation, heard: Heard) -> None:
    """Learn the stamp of a post of ours from its coming back, where the chat told none."""
    message = tx.messages.get(MessageId(heard.own))
    if message is None or message.conversation != place.id:
        return
    if tx.keys.find(_root(link, message.id)) is None:
        pair(tx, link, message.id, stamp=heard.stamp, thread=heard.thread)


def _request(wanted: Sending) -> Sending:
    return Sending(
        to=wanted.to,
        thread=wanted.thread,
        intent="request",
        body=wanted.body,
        reply_to=wanted.reply_to,
    )


def _meant(tx: Transaction, heard: Heard, project: ProjectId) -> tuple[str, ...]:
    """Recipients among the names of a text: aliases, identities and roles that somebody has."""
    found: dict[str, None] = {}
    for name in chat.mentions(heard.text):
        role = name.removeprefix(sending.ROLE)
        if tx.instances.named(name) or identity.parse(name):
            try:
                found[agents.resolve(tx, name, project=project).identity] = None
            except (NotFound, InvalidInput):
                continue
        elif tx.instances.in_role(role, project=project):
            found[f"{sending.ROLE}{role}"] = None
    found.pop(chat.person(heard.person), None)
    return tuple(found)[: sending.RECIPIENTS]


def _person(tx: Transaction, heard: Heard, project: ProjectId) -> str:
    """The identity of who wrote it, who takes part from now on."""
    person = chat.person(heard.person)
    if tx.instances.get(person) is None:
        agents.register(
            tx,
            person,
            instance=person.rpartition(":")[2],
            standing=Standing(state.State.IDLE, tx.now()),
            alias=_alias(tx, heard.name, project),
        )
    return person


def _alias(tx: Transaction, name: str, project: ProjectId) -> str:
    """The name that a person has in the chat, unless it could be taken for somebody else's."""
    if not name or identity.unfit(name) or tx.instances.named(name):
        return ""
    others = [one.alias for one in tx.instances.list(project=project, limit=NAMES) if one.alias]
    return "" if identity.look_alike(name, others) else name


def begins_at(tx: Transaction, id: ConversationId) -> int:
    """Where a new link begins: what was said before stays here."""
    found = tx.conversations.get(id)
    return found.messages if found else 0
