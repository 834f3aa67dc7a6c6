"""Messages between agents: what is asked of whom, and how far each recipient got with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mufakat.core.base import ConversationId, MessageId, Millis


class Intent(StrEnum):
    """What the sender wants."""

    REQUEST = "request"
    DECISION = "decision"
    ALERT = "alert"
    HANDOFF = "handoff"
    INFORM = "inform"
    ACK = "ack"


REQUIRES_ACK = frozenset({Intent.REQUEST, Intent.DECISION, Intent.ALERT, Intent.HANDOFF})
URGENT = 3
"""The priority that is urgent."""


class Status(StrEnum):
    """How far a message got with one recipient."""

    HELD = "held"
    """For somebody who has not joined yet."""
    QUEUED = "queued"
    OFFERED = "offered"
    SHOWN = "shown"
    ACKED = "acked"
    ANSWERED = "answered"
    DECLINED = "declined"
    EXPIRED = "expired"
    DEAD = "dead"


class Path(StrEnum):
    """By what a message was shown."""

    GATE = "gate"
    HOOK = "hook"
    CONTEXT = "context"
    """A digest that was pulled."""
    PACK = "pack"
    INBOX = "inbox"
    """It was read there."""
    CHAT = "chat"
    """It was posted into the team chat, where the person is."""


OPEN = frozenset({Status.QUEUED, Status.OFFERED, Status.SHOWN})
"""Not done with."""
UNREAD = frozenset({Status.QUEUED, Status.OFFERED})


@dataclass(frozen=True, slots=True)
class Envelope:
    """What stands beside a stored message that was sent to somebody."""

    message: MessageId
    conversation: ConversationId
    sender: str
    """Identity, from the credential."""
    to: tuple[str, ...]
    """Recipients as they were named: identities, `role:…`, `topic:…`."""
    intent: Intent
    priority: int
    """0 to 3."""
    sent: Millis
    deadline: Millis | None = None
    """When the sender is told that it was not answered."""
    expires: Millis | None = None
    reply_to: MessageId | None = None
    refs: tuple[str, ...] = ()
    steer: bool = False
    """Meant for the middle of a turn; else it waits for the next chance."""
    hops: int = 0
    """Automatic replies in this chain since a person or a plan spoke."""
    watched: bool = False
    """The sender was told of the deadline, or that the recipient went idle without an answer."""

    @property
    def requires_ack(self) -> bool:
        return self.intent in REQUIRES_ACK


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message in one inbox."""

    recipient: str
    number: int
    """Gapless in the inbox, from 1; 0 while it is held for somebody who has not joined."""
    message: MessageId
    status: Status
    at: Millis
    """Of the last change."""
    offered_until: Millis | None = None
    offered_to: int = 0
    """Epoch of the session that claimed it."""
    times: int = 0
    """How often it was shown."""
    turn: str = ""
    """The turn in which it was shown last."""
    note: str = ""
    """Why it was declined, expired or given up."""
    turns: int = 0
    """In how many turns it was shown."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message as its recipient sees it."""

    envelope: Envelope
    delivery: Delivery
    text: str
    chars: int
    """Length of the whole text; `text` may be its beginning."""
