"""The stop gate: whether an agent may end its turn while there is mail for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from mufakat.core.base import Millis
from mufakat.core.coordination import delivery, flood, quoting
from mufakat.core.coordination.inbox import UNREAD, URGENT, Letter, Status


class Rule(StrEnum):
    """Which unread messages hold an agent."""

    ALL = "all"
    REQUIRES_ACK = "requires_ack"
    URGENT = "urgent"
    OFF = "off"


BLOCKS = 3
"""Times a turn is held at most."""
REASON_BYTES = 8 * 1024
"""UTF-8 bytes of a reason."""
LEAST_BYTES = 320
"""What a letter gets at least while there is room, so that each says something."""
LETTERS = 25
"""In one reason."""
TAIL_BYTES = 96


@dataclass(frozen=True, slots=True)
class Turn:
    """How often one turn of one session was held, and for what."""

    identity: str
    session: str
    turn: str
    """The engine's turn id, else a hash of its prompt."""
    blocks: int = 0
    seen: int = 0
    """Highest inbox number that a block has shown."""
    at: Millis = Millis(0)


@dataclass(frozen=True, slots=True)
class Stop:
    """What an engine's stop hook asks."""

    open: Sequence[Letter]
    """Everything in the inbox that is not done with, oldest first."""
    turn: Turn
    rule: Rule = Rule.ALL
    background: bool = False
    """The engine still runs work in the background."""
    fence: str = ""
    """Random text that marks quoted words; stripped from them."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The turn goes on: the reason asks for the act and carries the messages."""

    reason: str
    shown: tuple[int, ...]
    """Inbox numbers that the reason carries."""
    acked: tuple[int, ...] = ()
    """Shown before and in no need of an acknowledgement: read by now."""
    dead: tuple[int, ...] = ()
    """Shown in vain too often: given up."""


@dataclass(frozen=True, slots=True)
class Go:
    """The turn may end; `debt` messages stay unread, `gave_up` where the cap was reached."""

    debt: int = 0
    acked: tuple[int, ...] = ()
    gave_up: bool = False
    why: str = ""
    dead: tuple[int, ...] = ()
    unanswered: tuple[int, ...] = ()
    """Where the gate gave up: open requests whose senders must hear of it."""
    left: tuple[int, ...] = ()
    """Where the gate gave up: everything that still held it."""


Decision = Hold | Go


def decide(stop: Stop) -> Decision:
    """Hold the turn while there is mail for it, three times at most; else let it end."""
    acked = tuple(one.delivery.number for one in stop.open if _read_by_now(one, stop.turn.turn))
    dead = tuple(one.delivery.number for one in stop.open if delivery.given_up(one))
    over = {*acked, *dead}
    left = [one for one in stop.open if one.delivery.number not in over]
    holding = waiting(stop)
    if not holding or stop.background:
        why = "background work runs" if stop.background else ""
        return Go(len(left), acked, why=why, dead=dead)
    if stop.turn.blocks >= BLOCKS:
        asked = tuple(one.delivery.number for one in holding if one.envelope.requires_ack)
        why = f"held {stop.turn.blocks} times"
        named = tuple(one.delivery.number for one in holding)
        return Go(len(left), acked, True, why, dead, unanswered=asked, left=named)
    if not any(_news(one, stop.turn) or one.envelope.requires_ack for one in holding):
        return Go(len(left), acked, why="nothing new since it was held", dead=dead)
    reason, shown = _reason(holding, stop.fence)
    return Hold(reason, shown, acked, dead)


def waiting(stop: Stop) -> list[Letter]:
    """The letters that hold this turn, oldest first; their texts change nothing."""
    if stop.rule is Rule.OFF:
        return []
    return [
        one
        for one in sorted(stop.open, key=lambda one: one.delivery.number)
        if flood.holds(one.envelope)
        and _matters(one, stop.rule)
        and not delivery.given_up(one)
        and not _read_by_now(one, stop.turn.turn)
    ]


def after(turn: Turn, hold: Hold, *, at: Millis) -> Turn:
    """Count a block."""
    seen = max(turn.seen, *hold.shown) if hold.shown else turn.seen
    return dataclasses.replace(turn, blocks=turn.blocks + 1, seen=seen, at=at)


def _read_by_now(one: Letter, turn: str) -> bool:
    """Whether an output with it was accepted: the turn went on, and stops again.

    What another turn's block showed may never have arrived, because that block may have been lost
    on its way to the engine.
    """
    shown = one.delivery.status is Status.SHOWN and one.delivery.turn in {"", turn}
    return shown and not one.envelope.requires_ack


def _matters(one: Letter, rule: Rule) -> bool:
    match rule:
        case Rule.ALL:
            return True
        case Rule.REQUIRES_ACK:
            return one.envelope.requires_ack
        case Rule.URGENT:
            return one.envelope.priority >= URGENT
        case Rule.OFF:
            return False
        case _:
            assert_never(rule)


def _news(one: Letter, turn: Turn) -> bool:
    return one.delivery.number > turn.seen


def _reason(holding: Sequence[Letter], fence: str) -> tuple[str, tuple[int, ...]]:
    """The text that holds a turn, and the numbers of what stands in it; oldest first."""
    # The rule and the tail are paid for before the letters, so that both always fit.
    head = f"{_asked(holding)}\n{quoting.rule(fence)}\n"
    left = REASON_BYTES - quoting.Bytes.of(head) - TAIL_BYTES
    told: list[str] = []
    shown: list[int] = []
    first = holding[:LETTERS]
    for index, one in enumerate(first):
        share = max(LEAST_BYTES, left // (len(first) - index))
        quoted = quoting.letter(one, fence, room=min(left, share), size=quoting.Bytes)
        if quoted is None:
            break
        told.append(quoted.text)
        shown.append(one.delivery.number)
        left -= quoting.Bytes.of(quoted.text)
    more = len(holding) - len(shown)
    tail = f"{fence} end; {more:,} more wait for the next time\n" if more else f"{fence} end\n"
    return f"{head}{''.join(told)}{tail}", tuple(shown)


def _asked(holding: Sequence[Letter]) -> str:
    unread = sum(one.delivery.status in UNREAD for one in holding)
    parts = [_count(unread, "unread message")] if unread else []
    if len(holding) > unread:
        parts.append(_count(len(holding) - unread, "message") + " still open")
    them = "it" if len(holding) == 1 else "them"
    each = "it" if len(holding) == 1 else "each"
    return (
        f"You have {' and '.join(parts)}. Read {them} below, answer or acknowledge {each} "
        "(tool `inbox`/`ack`, or `mufakat inbox ack`), then finish."
    )


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
