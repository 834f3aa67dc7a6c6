"""One step of condensing a conversation: planned in a snapshot, kept only if that still stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mufakat.core import quote
from mufakat.core.base import ConversationId, Event
from mufakat.core.knowledge import briefing, extract, hysteresis
from mufakat.core.knowledge.extract import Condensed
from mufakat.core.knowledge.topic import Line, Topic
from mufakat.core.talk.message import Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction

TAKEN = 200
"""Lines that were taken back and are still watched for, the newest."""
PART = 12
"""Messages that are condensed in one step, so that none of them holds up the writer."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of condensing."""

    messages: int = 0
    topics: int = 0
    """New ones."""
    lines: int = 0
    superseded: int = 0
    waits_for: int = 0
    """Messages that are to come before it is done again."""

    def __add__(self, other: Refreshed) -> Refreshed:
        return Refreshed(
            self.messages + other.messages,
            self.topics + other.topics,
            self.lines + other.lines,
            self.superseded + other.superseded,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Messages and what they come to, with what of the store it was made from."""

    conversation: ConversationId
    start: int
    """Number of the last message that was condensed before."""
    end: int
    messages: int
    newest: Topic | None
    condensed: tuple[Condensed, ...]


def cursor(id: ConversationId) -> str:
    """Name of the number of the last message that was condensed."""
    return f"memory/{id}"


def counted(id: ConversationId) -> str:
    """Name of the count of people's and agents' messages that were condensed."""
    return f"memory/{id}/talk"


def refined(id: ConversationId) -> str:
    """Name of the number of the last message that a model has condensed."""
    return f"memory/{id}/engine"


def due(tx: Transaction, id: ConversationId) -> bool:
    """Whether enough is new, or a model's part was left undone; a look at counters."""
    found = tx.conversations.get(id)
    if found is None:
        return False
    left = tx.cursors.get(refined(id))
    if left is not None and left < (tx.cursors.get(cursor(id)) or 0):
        return True
    return found.talk - (tx.cursors.get(counted(id)) or 0) >= hysteresis.FROM


def waits_for(tx: Transaction, id: ConversationId) -> int:
    """How many messages are to come before there is something to condense."""
    found = tx.conversations.get(id)
    talk = found.talk if found else 0
    return max(0, hysteresis.FROM - talk + (tx.cursors.get(counted(id)) or 0))


def plan(tx: Transaction, id: ConversationId, *, scrub: Scrub) -> Plan | None:
    """What the oldest messages that are in no topic yet come to; None where it is not due."""
    conversation = tx.conversations.get(id)
    start = tx.cursors.get(cursor(id)) or 0
    some = hysteresis.FROM + PART
    said = tx.messages.talk(id, after=start, limit=some, clip=quote.LONG)
    part = hysteresis.due(said)
    if conversation is None or not part:
        return None
    clean = [cleaned(tx, one, conversation.fence, scrub=scrub) for one in part]
    newest = tx.topics.newest(id)
    condensed = tuple(_condense(tx, id, clean, newest))
    return Plan(id, start, part[-1].number, len(part), newest, condensed)


def _condense(
    tx: Transaction, id: ConversationId, part: Sequence[Message], newest: Topic | None
) -> Iterator[Condensed]:
    known = [*tx.topics.best(id, limit=briefing.POOL), *tx.topics.revoked(id, limit=TAKEN)]
    for some in extract.parts(part):
        found = extract.condense(id, some, newest=newest, known=known, now=tx.now())
        gone = {line.id for line in found.superseded}
        known = [*(line for line in known if line.id not in gone), *found.lines]
        newest = found.topic
        yield found


def cleaned(tx: Transaction, said: Message, fence: str, *, scrub: Scrub) -> Message:
    """A message as it may be remembered: without secrets, and without what a pack told."""
    # Both ends of a long text may hold half a secret each, so the whole is cleaned.
    whole = (tx.messages.get(said.id) or said) if said.secrets and not said.whole else said
    body = whole.text
    if not whole.whole:
        hole = len(body) * 3 // 4
        body = f"{body[:hole]}\n{body[hole:]}"
    body = quote.inert(scrub(body).text, fence)
    return dataclasses.replace(said, text=body[: 2 * quote.LONG])


def save(tx: Transaction, made: Plan, *, engine: bool) -> Refreshed:
    """Keep what a plan came to; nothing where others were faster, then it is planned anew."""
    id = made.conversation
    if (tx.cursors.get(cursor(id)) or 0) != made.start or tx.topics.newest(id) != made.newest:
        return Refreshed()
    for one in made.condensed:
        tx.topics.keep(one.topic)
        for line in one.lines:
            tx.topics.keep_line(line)
        for line in one.superseded:
            link(tx, line)
    if engine and tx.cursors.get(refined(id)) is None:
        tx.cursors.keep(refined(id), made.start)
    tx.cursors.keep(cursor(id), made.end)
    tx.cursors.keep(counted(id), (tx.cursors.get(counted(id)) or 0) + made.messages)
    rank(tx, id)
    known = made.newest.number if made.newest else 0
    done = Refreshed(
        made.messages,
        len({one.topic.number for one in made.condensed if one.topic.number > known}),
        sum(len(one.lines) for one in made.condensed),
        sum(len(one.superseded) for one in made.condensed),
    )
    data = {
        "conversation": id,
        "after": made.start,
        "until": made.end,
        "messages": done.messages,
        "lines": done.lines,
        "superseded": done.superseded,
    }
    tx.events.record(Event("memory.compressed", id, data))
    return done


def link(tx: Transaction, line: Line) -> None:
    """Say in the store that a line holds no longer, unless it was taken back meanwhile."""
    now = tx.topics.line(line.conversation, line.id)
    if now is not None and now.live:
        tx.topics.keep_line(dataclasses.replace(now, superseded_by=line.superseded_by, rank=0))


def rank(tx: Transaction, id: ConversationId) -> None:
    """Choose anew which lines are told."""
    best = tx.topics.best(id, limit=briefing.POOL)
    tx.topics.rank(id, [line.id for line in briefing.rank(best)])
