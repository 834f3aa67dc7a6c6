"""The inbox: a message with its envelope and deliveries in one step, and all that can befall it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mufakat.core.base import ConversationId, InvalidInput, MessageId, Millis, NotFound
from mufakat.core.coordination import delivery, flood, identity, sending
from mufakat.core.coordination.flood import Before
from mufakat.core.coordination.inbox import OPEN, UNREAD, URGENT, Delivery, Envelope, Status
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.sending import Sending
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.ports.coordination import Member
from mufakat.ports.store import Transaction
from mufakat.services import talk
from mufakat.services.coordination import agents, held, marks, pause, recipients, rooms
from mufakat.services.coordination.recipients import Resolved

AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Post:
    """A message on its way into the store; everything of it has been checked."""

    sender: str
    sending: Sending
    secrets: tuple[str, ...] = ()
    """Kinds of secrets found in its body."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a sender gets to know at once."""

    message: MessageId
    conversation: ConversationId
    number: int
    """Of the message in its conversation."""
    recipients: tuple[str, ...]
    duplicate: bool = False
    """It was sent before; nothing new was stored."""
    held: tuple[str, ...] = ()
    """Names that nobody has yet."""
    offline: tuple[str, ...] = ()
    """Recipients that are not there just now."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """Where a message goes."""

    who: Resolved
    thread: ConversationId
    answered: Envelope | None
    joins: bool = False
    """The sender takes part, so that it follows the thread from now on."""


def post(tx: Transaction, post: Post) -> Sent:
    """Send a message in the step of `tx`; raises NotFound, InvalidInput or NotAllowed."""
    return store(tx, post, address(tx, post))


def tell(tx: Transaction, identity: str, text: str, *, urgent: bool = False) -> Sent | None:
    """Say something as Mufakat itself; None where there is nobody to say it to."""
    to = tx.instances.get(identity)
    thread = rooms.of(tx, to) if to is not None and not flood.ours(identity) else None
    if to is None or thread is None:
        return None
    wanted = Sending(
        (identity,),
        intent="alert" if urgent else "inform",
        body=text,
        ttl_seconds=sending.HELD_SECONDS,
        priority=URGENT if urgent else 1,
    )
    to_one = Addressed(Resolved((identity,), (to,)), thread, None)
    return store(tx, Post(pause.SYSTEM, wanted), to_one)


def went_idle(tx: Transaction, instance: Instance) -> None:
    """Tell the senders whose requests an agent left without an answer, each once."""
    for asked in tx.inbox.awaited_from(instance.identity):
        row = tx.inbox.get(instance.identity, asked.message)
        if row is None or asked.watched or not delivery.unanswered(asked, row):
            continue
        read = "read" if row.status in {Status.SHOWN, Status.ACKED} else "not read"
        watched(
            tx,
            asked,
            f"{instance.identity} went idle without an answer to your {asked.intent} "
            f"{asked.message}, which it has {read}.",
        )


def watched(tx: Transaction, envelope: Envelope, text: str) -> None:
    """Tell a sender what became of a message; later watches of it stay silent."""
    tx.inbox.keep_envelope(dataclasses.replace(envelope, watched=True))
    tell(tx, envelope.sender, text)


def overdue(tx: Transaction) -> int:
    """End what has run out: offers, deadlines, lives; answers how many messages it touched."""
    now = tx.now()
    stale = [
        row
        for row in tx.inbox.with_status(Status.OFFERED, limit=AT_ONCE)
        if delivery.claimable(row, now)
    ]
    for row in stale:
        tx.inbox.keep(delivery.move(row, Status.QUEUED, at=now))
    due = tx.inbox.due(now)
    for envelope in due:
        rows = tx.inbox.of(envelope.message)
        open = [row for row in rows if row.status in OPEN | {Status.HELD}]
        if open and envelope.expires is not None and envelope.expires <= now:
            _expire(tx, envelope, open)
        else:
            _missed(tx, envelope, rows)
    return len(stale) + len(due)


def _expire(tx: Transaction, envelope: Envelope, open: Sequence[Delivery]) -> None:
    """End what nobody was done with, whoever had it in hand."""
    for row in open:
        marks.move(tx, [row], Status.EXPIRED, note="its time was over")
        if row.number:
            marks.advance(tx, row.recipient)
    unread = ", ".join(row.recipient for row in open if row.status is not Status.SHOWN)
    how = f"unread by {unread}" if unread else "without an answer"
    watched(tx, envelope, f"Your {envelope.intent} {envelope.message} expired {how}.")


def _missed(tx: Transaction, envelope: Envelope, rows: Sequence[Delivery]) -> None:
    """Tell a sender that a deadline has passed, and how far each recipient got."""
    waiting = [
        row
        for row in rows
        if delivery.unanswered(envelope, row) or row.status in UNREAD | {Status.HELD}
    ]
    told = ", ".join(_whereabouts(tx, row) for row in waiting)
    text = f"The deadline of your {envelope.intent} {envelope.message} has passed: {told}."
    watched(tx, envelope, text if told else f"The deadline of {envelope.message} has passed.")


def _whereabouts(tx: Transaction, row: Delivery) -> str:
    if row.status is Status.HELD:
        return f"nobody has come under the name {row.recipient}, undeliverable"
    there = tx.instances.get(row.recipient)
    if there is None or not agents.online(there):
        return f"{row.recipient} is offline, undeliverable"
    if row.status in UNREAD:
        return f"{row.recipient} has not read it"
    return f"{row.recipient} has read it and not answered"


def bury(tx: Transaction, row: Delivery, *, why: str) -> None:
    """Give a message up for one recipient, and tell its sender."""
    marks.move(tx, [row], Status.DEAD, note=why)
    marks.advance(tx, row.recipient)
    envelope = tx.inbox.envelope(row.message)
    if envelope is not None:
        tell(
            tx,
            envelope.sender,
            f"Your {envelope.intent} {envelope.message} to {row.recipient} is a dead letter: "
            f"{why}. It can be delivered again.",
        )


def address(tx: Transaction, post: Post) -> Addressed:
    """Find thread and recipients; raises NotFound, InvalidInput or NotAllowed, storing nothing."""
    wanted = post.sending
    sender = tx.instances.get(post.sender)
    answered = tx.inbox.envelope(MessageId(wanted.reply_to)) if wanted.reply_to else None
    place = rooms.project_of(tx, wanted.project, sender)
    names = wanted.to
    if not names and answered is not None and answered.sender != post.sender:
        names = (answered.sender,)
    who = recipients.resolve(
        tx,
        names,
        sender=post.sender,
        project=place.id if place else None,
        hold=wanted.hold,
    )
    thread = _thread(tx, wanted, who, sender=sender)
    return Addressed(who, thread, answered, joins=sender is not None)


def _thread(
    tx: Transaction, wanted: Sending, who: Resolved, *, sender: Instance | None
) -> ConversationId:
    if wanted.thread:
        return rooms.thread(tx, wanted.thread, sender=sender).id
    if who.thread is not None:
        return who.thread
    if wanted.reply_to:
        said = tx.messages.get(MessageId(wanted.reply_to))
        if said is None:
            raise NotFound(f"There is no message {wanted.reply_to}.", fix="Check `reply_to`.")
        return rooms.thread(tx, said.conversation, sender=sender).id
    project = rooms.project_of(tx, wanted.project, sender, *who.instances)
    if project is None:
        raise InvalidInput(
            "The message belongs to no project.", fix="Give `project` or `thread` with it."
        )
    return rooms.room(tx, project)


def store(tx: Transaction, post: Post, to: Addressed) -> Sent:
    """Keep message, envelope and deliveries, and mark what it answers."""
    wanted, who = post.sending, to.who
    hops = 0
    if kind_of(post.sender) is Kind.AGENT:
        hops = flood.hops(post.sender, _before(tx, to.thread, post.sender), to.answered)
    draft = message.draft(kind_of(post.sender), post.sender, text=wanted.body, secrets=post.secrets)
    said = talk.append(tx, to.thread, draft)
    envelope = Envelope(
        message=said.id,
        conversation=to.thread,
        sender=post.sender,
        to=who.to,
        intent=sending.intent(wanted.intent),
        priority=wanted.priority,
        sent=tx.now(),
        deadline=_later(tx, wanted.deadline_seconds),
        expires=_later(tx, _life(wanted, who)),
        reply_to=MessageId(wanted.reply_to) if wanted.reply_to else None,
        refs=wanted.refs,
        steer=wanted.steer,
        hops=hops,
    )
    tx.inbox.send(envelope)
    for name in (*(one.identity for one in who.instances), *who.held):
        deliver(tx, name, said.id, held=name in who.held)
    _answer(tx, post.sender, to.answered, said.id)
    if to.joins:
        held.follow(tx, Member(to.thread, post.sender, cursor=said.number))
    return Sent(
        message=said.id,
        conversation=to.thread,
        number=said.number,
        recipients=tuple(one.identity for one in who.instances),
        held=who.held,
        offline=tuple(one.identity for one in who.instances if not agents.online(one)),
    )


def deliver(tx: Transaction, recipient: str, said: MessageId, *, held: bool = False) -> None:
    """Put a message into an inbox, or aside for who comes under that name."""
    status = Status.HELD if held else Status.QUEUED
    marks.announce(tx, tx.inbox.deliver(Delivery(recipient, 0, said, status, tx.now())))


def receipt(tx: Transaction, id: MessageId) -> Sent | None:
    """The receipt of a message that was sent before."""
    envelope, said = tx.inbox.envelope(id), tx.messages.get(id)
    if envelope is None or said is None:
        return None
    rows = tx.inbox.of(id)
    names = tuple(row.recipient for row in rows if row.number)
    held = tuple(row.recipient for row in rows if row.status is Status.HELD)
    return Sent(id, said.conversation, said.number, names, duplicate=True, held=held)


def kind_of(sender: str) -> Kind:
    """A person's words or an agent's; nobody can join under a person's name."""
    who = identity.parse(identity.owner(sender))
    return Kind.PERSON if who is not None and who.engine == identity.PERSON else Kind.AGENT


def _life(wanted: Sending, who: Resolved) -> float | None:
    if not who.held:
        return wanted.ttl_seconds
    return min(wanted.ttl_seconds or sending.HELD_SECONDS, sending.HELD_SECONDS)


def _later(tx: Transaction, seconds: float | None) -> Millis | None:
    return None if seconds is None else Millis(tx.now() + round(seconds * 1000))


def _before(tx: Transaction, thread: ConversationId, sender: str) -> Iterator[Before]:
    """The thread, newest first, read only as far as counting replies can go."""
    spoken = [
        said
        for said in tx.messages.said(thread, limit=flood.LOOK_BACK)
        if said.kind in message.TALK
    ]
    steps = [
        said.id
        for said in itertools.takewhile(lambda said: said.kind is not Kind.PERSON, spoken)
        if not flood.passed_over(said.speaker, sender)
    ]
    to_sender = {row.message for row in tx.inbox.among(sender, steps)}
    envelopes = tx.inbox.envelopes(sorted(to_sender))
    for said in spoken:
        hops = envelopes[said.id].hops if said.id in envelopes else 0
        yield Before(said.kind, said.speaker, hops, said.id in to_sender)


def _answer(tx: Transaction, sender: str, asked: Envelope | None, answer: MessageId) -> None:
    """Mark what was answered; an answer of somebody who was not asked settles nothing."""
    row = tx.inbox.get(sender, asked.message) if asked else None
    if row is None or Status.ANSWERED not in delivery.MOVES[row.status]:
        return
    done = delivery.move(row, Status.ANSWERED, at=tx.now())
    marks.keep(tx, dataclasses.replace(done, note=f"answered by {answer}"))
    marks.advance(tx, sender)
