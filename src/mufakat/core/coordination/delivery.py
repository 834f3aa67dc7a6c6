"""How a message moves through one inbox: every move in one table, and what an ack may reach."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mufakat.core.base import BadCursor, Conflict, Millis
from mufakat.core.coordination.inbox import OPEN, UNREAD, Delivery, Envelope, Letter, Status

OFFER_MS = 60_000
"""An offer that nobody confirms in this time goes to whoever asks next."""
SHOWS, TURNS = 5, 2
"""Shown so often, in so many turns at least, without an acknowledgement, a message is given up."""
DONE = frozenset({Status.ACKED, Status.ANSWERED, Status.DECLINED, Status.EXPIRED, Status.DEAD})
_ONWARD = DONE | {Status.SHOWN}

MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.HELD: frozenset({Status.QUEUED, Status.ACKED, Status.EXPIRED}),
        Status.QUEUED: _ONWARD | {Status.OFFERED},
        Status.OFFERED: _ONWARD | {Status.QUEUED, Status.OFFERED},
        Status.SHOWN: _ONWARD,
        Status.ACKED: frozenset({Status.ANSWERED}),
        Status.ANSWERED: frozenset(),
        Status.DECLINED: frozenset({Status.ANSWERED}),
        Status.EXPIRED: frozenset({Status.ANSWERED}),
        Status.DEAD: frozenset({Status.ANSWERED, Status.QUEUED}),
    }
)
"""An answer counts whenever it comes; only a dead letter is delivered again."""


@dataclass(frozen=True, slots=True)
class Acked:
    """What an acknowledgement changes."""

    done: tuple[Delivery, ...]
    cursor: int
    """Every entry up to here is done with."""


def move(now: Delivery, to: Status, *, at: Millis, note: str = "") -> Delivery:
    """Change a delivery's status by the table; raises Conflict where it may not go there."""
    if to not in MOVES[now.status]:
        raise Conflict(
            f"Message {now.number} of {now.recipient} is {now.status}; it cannot become {to}.",
            fix="Read the inbox again.",
        )
    return dataclasses.replace(now, status=to, at=at, offered_until=None, note=note)


def offer(now: Delivery, *, epoch: int, at: Millis) -> Delivery:
    """Offer a message to one consumer for a minute."""
    return dataclasses.replace(
        move(now, Status.OFFERED, at=at), offered_until=Millis(at + OFFER_MS), offered_to=epoch
    )


def show(now: Delivery, *, epoch: int, turn: str, at: Millis) -> Delivery:
    """Count a message as shown to a session: it stood in an output that was accepted.

    A turn that has no name is not counted: it may be the one whose gate shows the message next.
    """
    another = turn not in {"", now.turn}
    return dataclasses.replace(
        move(now, Status.SHOWN, at=at),
        offered_to=epoch,
        times=now.times + 1,
        turn=turn,
        turns=now.turns + another,
    )


def begin(now: Delivery, *, epoch: int, at: Millis) -> Delivery:
    """Remember that a session was told the beginning of a long message; it stays unread."""
    return dataclasses.replace(now, offered_to=epoch, at=at)


def again(now: Delivery, *, at: Millis) -> Delivery:
    """Deliver a dead letter once more, as if for the first time."""
    fresh = move(now, Status.QUEUED, at=at)
    return dataclasses.replace(fresh, times=0, turn="", turns=0, offered_to=0)


def claimable(delivery: Delivery, now: Millis) -> bool:
    """Whether it waits for a consumer; an offer that ran out does."""
    if delivery.status is Status.OFFERED:
        return delivery.offered_until is None or delivery.offered_until <= now
    return delivery.status is Status.QUEUED


def due(row: Delivery, envelope: Envelope | None) -> bool:
    """Whether a reader has still to see to it: it is new, or was shown and needs an answer."""
    owed = row.status in OPEN and envelope is not None and envelope.requires_ack
    return row.status in UNREAD or owed


def given_up(letter: Letter) -> bool:
    """Whether a message that needs an acknowledgement was shown in vain in turns enough."""
    row = letter.delivery
    return letter.envelope.requires_ack and row.times >= SHOWS and row.turns >= TURNS


def delivered(delivery: Delivery, epoch: int) -> bool:
    """Whether this very session was given the message, in whole or in part."""
    if delivery.status is Status.QUEUED:
        return bool(epoch) and delivery.offered_to == epoch
    return delivery.status is not Status.HELD and delivery.offered_to == epoch


def ack_upto(rows: Sequence[Delivery], upto: int, *, acked: int, epoch: int, at: Millis) -> Acked:
    """Acknowledge everything that was delivered up to a number.

    `rows` are the inbox's entries above the cursor `acked`, oldest first. A number that this
    session was not given raises BadCursor. What was never delivered stays unread, and the cursor
    stays before it.
    """
    highest = max((row.number for row in rows if delivered(row, epoch)), default=0)
    if not acked < upto <= highest:
        if 0 < upto <= acked:
            return Acked((), acked)
        raise BadCursor(
            f"Message {upto} was not delivered to this session; the highest is {highest or acked}.",
            fix="Read the inbox first, then acknowledge what it gave you.",
        )
    reached = [row for row in rows if row.number <= upto and row.status in OPEN]
    done = tuple(move(row, Status.ACKED, at=at) for row in reached if delivered(row, epoch))
    return Acked(done, cursor(_changed(rows, done), acked))


def ack_each(rows: Sequence[Delivery], *, epoch: int, at: Millis, decline: str = "") -> Acked:
    """Acknowledge or decline single messages; those that are done with stay as they are.

    The cursor is left to `cursor`, which needs the whole inbox.
    """
    for row in rows:
        if row.status in OPEN and not delivered(row, epoch):
            raise BadCursor(
                f"Message {row.number} was not delivered to this session.",
                fix="Read the inbox first, then acknowledge what it gave you.",
            )
    to = Status.DECLINED if decline else Status.ACKED
    done = tuple(move(row, to, at=at, note=decline) for row in rows if row.status in OPEN)
    return Acked(done, 0)


def cursor(rows: Iterable[Delivery], acked: int) -> int:
    """The number up to which everything is done with; it never goes back."""
    for row in rows:
        if row.number == acked + 1 and row.status in DONE:
            acked = row.number
    return acked


def _changed(rows: Sequence[Delivery], done: Sequence[Delivery]) -> list[Delivery]:
    now = {row.number: row for row in done}
    return [now.get(row.number, row) for row in rows]


def unanswered(envelope: Envelope, row: Delivery) -> bool:
    """Whether its sender still waits for this recipient; a mere acknowledgement is no answer."""
    settled = {Status.ANSWERED, Status.DECLINED, Status.EXPIRED, Status.DEAD}
    return envelope.requires_ack and row.status not in settled
