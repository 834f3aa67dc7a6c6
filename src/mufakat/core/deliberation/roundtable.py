"""A roundtable and all that moves its state, in one place."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from mufakat.core.base import (
    Conflict,
    ConversationId,
    InvalidInput,
    MessageId,
    Millis,
    NotFound,
    ProjectId,
    RoundtableId,
)
from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.seat import Seat, Standing

MOST_ROUNDS = 8
MOST_REMARKS = 32


class Status(StrEnum):
    """Where a table stands; another round can follow on what has ended."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    STOPPED = "stopped"
    CAPPED = "capped"
    FAILED = "failed"


ENDED = frozenset({Status.DONE, Status.STOPPED, Status.CAPPED, Status.FAILED})
LIVE = frozenset({Status.RUNNING, Status.PAUSED})

MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.PLANNED: frozenset({Status.RUNNING, Status.STOPPED}),
        Status.RUNNING: frozenset({Status.PAUSED, *ENDED}),
        Status.PAUSED: frozenset({Status.RUNNING, Status.STOPPED}),
        **dict.fromkeys(ENDED, frozenset({Status.RUNNING})),
    }
)


class Order(StrEnum):
    """Who speaks when, and hears whom."""

    DELIBERATIVE = "deliberative"
    """All at once; each hears what was said in the rounds before."""
    SEQUENTIAL = "sequential"
    """One after another; each also hears who spoke before it in this round."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person said to the table; every seat hears it at its next turn."""

    message: MessageId
    number: int
    round: int
    """In which it was said."""


@dataclass(frozen=True, slots=True)
class Roundtable:
    """A stored table."""

    id: RoundtableId
    project: ProjectId
    conversation: ConversationId
    question: MessageId
    number: int
    """Of the question in its conversation: what stands before it is the table's history."""
    seats: tuple[Seat, ...]
    rounds: int
    created: Millis
    updated: Millis
    order: Order = Order.DELIBERATIVE
    blind: bool = True
    """Nobody hears anybody in the first round."""
    anonymous: bool = True
    role: str = ""
    budget: int = 0
    """Characters of a seat's pack."""
    caps: Caps = Caps()
    remarks: tuple[Remark, ...] = ()
    status: Status = Status.PLANNED
    round: int = 1
    since: Millis = Millis(0)
    """When it last began to run; 0 while it does not."""
    worked: int = 0
    """Milliseconds that it ran before."""
    why: str = ""
    """Why it is paused or has ended."""
    server: str = ""
    """Whose job it is."""

    @property
    def active(self) -> tuple[Seat, ...]:
        """Seats that take part."""
        return tuple(seat for seat in self.seats if seat.active)

    def seat(self, label: str) -> Seat:
        """A seat by its letter, or raises NotFound."""
        for seat in self.seats:
            if seat.label == label.upper():
                return seat
        letters = ", ".join(seat.label for seat in self.seats)
        raise NotFound(f"There is no seat {label[:20]!r}.", fix=f"Choose one of: {letters}.")

    def seconds(self, now: Millis) -> float:
        """How long it has run."""
        running = max(0, now - self.since) if self.since else 0
        return (self.worked + running) / 1_000


def check_rounds(rounds: int) -> None:
    """Raise InvalidInput for a number of rounds that no table takes."""
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InvalidInput(
            f"{rounds} rounds are out of range.", fix=f"Give 1 to {MOST_ROUNDS} rounds."
        )


def start(table: Roundtable, at: Millis) -> Roundtable:
    """Begin, or go on after a pause."""
    return _move(table, Status.RUNNING, at)


def pause(table: Roundtable, at: Millis, *, why: str) -> Roundtable:
    """Let running turns end and start no more."""
    return _move(table, Status.PAUSED, at, why=why)


def stop(table: Roundtable, at: Millis, *, why: str) -> Roundtable:
    """End it with what was said so far."""
    return _move(table, Status.STOPPED, at, why=why)


def finish(table: Roundtable, at: Millis, *, why: str) -> Roundtable:
    """All rounds are over, or another would say nothing new."""
    return _move(table, Status.DONE, at, why=why)


def cap(table: Roundtable, at: Millis, *, why: str) -> Roundtable:
    """A cap has no room for another turn."""
    return _move(table, Status.CAPPED, at, why=why)


def fail(table: Roundtable, at: Millis, *, why: str) -> Roundtable:
    """It cannot go on: no seat is left that answers."""
    return _move(table, Status.FAILED, at, why=why)


def advance(table: Roundtable, at: Millis) -> Roundtable:
    """Go to the next round."""
    if table.status is not Status.RUNNING or table.round >= table.rounds:
        raise Conflict(f"The roundtable is {table.status} in round {table.round}.")
    return dataclasses.replace(table, round=table.round + 1, updated=at)


def again(table: Roundtable, at: Millis, *, rounds: int, caps: Caps | None = None) -> Roundtable:
    """Add rounds to one that runs or has ended; raises InvalidInput where there are too many."""
    if table.status is Status.PLANNED:
        raise Conflict("The roundtable has not begun.", fix="Start it first.")
    if not 1 <= rounds <= MOST_ROUNDS - table.rounds:
        left = MOST_ROUNDS - table.rounds
        raise InvalidInput(
            f"{rounds} more rounds are out of range.",
            fix=f"Give 1 to {left}." if left > 0 else "Start a new roundtable on what is open.",
        )
    # One that was stopped in a round goes on with that round's seats that have not answered.
    longer = dataclasses.replace(
        table, rounds=table.rounds + rounds, caps=caps or table.caps, updated=at
    )
    return longer if table.status in LIVE else _move(longer, Status.RUNNING, at)


def drop(table: Roundtable, label: str, *, why: str, at: Millis) -> Roundtable:
    """Take a seat off the table; what it has said stays, and counts no longer."""
    gone = table.seat(label)
    if table.status in ENDED:
        raise Conflict(f"The roundtable is {table.status}.", fix="Give it another round first.")
    if not gone.active:
        raise Conflict(f"Seat {gone.label} was dropped before.")
    if len(table.active) == 1:
        raise Conflict("It is the last seat.", fix="Stop the roundtable instead.")
    dropped = dataclasses.replace(gone, standing=Standing.DROPPED, why=why)
    seats = tuple(dropped if seat.label == gone.label else seat for seat in table.seats)
    return dataclasses.replace(table, seats=seats, updated=at)


def interject(table: Roundtable, remark: Remark, at: Millis) -> Roundtable:
    """Say something to the table; after its end it is heard with another round."""
    if len(table.remarks) >= MOST_REMARKS:
        raise Conflict(
            f"A roundtable takes {MOST_REMARKS} remarks.", fix="Start a new one with all of them."
        )
    return dataclasses.replace(table, remarks=(*table.remarks, remark), updated=at)


def _move(table: Roundtable, to: Status, at: Millis, *, why: str = "") -> Roundtable:
    if to not in MOVES[table.status]:
        raise Conflict(
            f"The roundtable is {table.status}; it cannot become {to}.",
            fix=f"Look at it: mufakat rt show {table.id}",
        )
    ran = max(0, at - table.since) if table.since else 0
    running = to is Status.RUNNING
    return dataclasses.replace(
        table,
        status=to,
        updated=at,
        since=at if running else Millis(0),
        worked=table.worked + ran,
        why=why,
    )
