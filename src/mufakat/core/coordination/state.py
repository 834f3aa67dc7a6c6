"""What an agent does now: reported when it changes, ordered by run and ordinal, never guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from mufakat.core.base import Millis, Revision


class State(StrEnum):
    """The states there are."""

    STARTING = "starting"
    WORKING = "working"
    BLOCKED = "blocked"
    IDLE = "idle"
    OFFLINE = "offline"


MOVES: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.STARTING: frozenset(State),
        State.WORKING: frozenset({State.WORKING, State.BLOCKED, State.IDLE, State.OFFLINE}),
        State.BLOCKED: frozenset({State.WORKING, State.BLOCKED, State.IDLE, State.OFFLINE}),
        State.IDLE: frozenset({State.WORKING, State.BLOCKED, State.IDLE, State.OFFLINE}),
        State.OFFLINE: frozenset(),
    }
)
"""Within one run, from its first state on; only another run comes back from offline."""


class On(StrEnum):
    """What a blocked agent waits for, and how one went offline."""

    APPROVAL = "approval"
    LEASE = "lease"
    AGENT = "agent"
    PERSON = "person"
    TOOL = "tool"
    ERROR = "error"
    EXITED = "exited"
    CRASHED = "crashed"
    LOST = "lost"


GONE = frozenset({On.EXITED, On.CRASHED, On.LOST})
WAITS = frozenset(On) - GONE


@dataclass(frozen=True, slots=True)
class Standing:
    """The last accepted report of an instance."""

    state: State
    since: Millis
    on: On | None = None
    detail: str = ""
    """One line for people."""
    run: str = ""
    """Which run reported; a run is one life of the instance between start and end."""
    ordinal: int = 0
    """Number of the report within its run."""
    debt: int = 0
    """Unread messages that an idle agent left behind."""
    revision: Revision = Revision(0)
    """Of the event that announced it."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report as it comes in; `expect` is the revision that the reporter last saw, or None."""

    state: State
    run: str = ""
    """Empty for the run that is going on."""
    ordinal: int = 0
    """0 where the reporter does not count: it is of now, and uses up no number of who does."""
    on: On | None = None
    detail: str = ""
    debt: int = 0
    expect: Revision | None = None


class Why(StrEnum):
    """Why a report was not taken."""

    EARLIER_RUN = "it is of another run than the one that is going on"
    LATE = "a later report of this run has been taken"
    CHANGED = "the state has changed since the revision that it expects"
    OVER = "its run is over"
    NO_MOVE = "no agent goes from the one state to the other"
    MEANINGLESS = "what it waits for, or how it ended, does not go with the state"


@dataclass(frozen=True, slots=True)
class Moved:
    """A new standing, to be announced."""

    standing: Standing


@dataclass(frozen=True, slots=True)
class Same:
    """Nothing new to announce; the standing has counted the report."""

    standing: Standing


@dataclass(frozen=True, slots=True)
class Stale:
    """The standing stays as it is."""

    why: Why


Decision = Moved | Same | Stale


def begin(now: Millis, run: str) -> Standing:
    """The standing at the start of a run; whoever starts a run ends every earlier one."""
    return Standing(State.STARTING, now, run=run)


def decide(standing: Standing, report: Report, *, now: Millis) -> Decision:
    """Take or refuse a report; a run that is not the present one has nothing to say."""
    refusal = _refusal(standing, report)
    if refusal is not None:
        return Stale(refusal)
    ordinal = report.ordinal or standing.ordinal
    if _says(report) == _says(standing):
        return Same(dataclasses.replace(standing, ordinal=max(ordinal, standing.ordinal)))
    return Moved(
        dataclasses.replace(
            standing,
            state=report.state,
            since=standing.since if report.state is standing.state else now,
            on=report.on,
            detail=report.detail,
            debt=report.debt,
            ordinal=ordinal,
        )
    )


def _refusal(standing: Standing, report: Report) -> Why | None:
    same = _says(report) == _says(standing)
    if report.run and report.run != standing.run:
        return Why.EARLIER_RUN
    if report.expect is not None and report.expect != standing.revision:
        return Why.CHANGED
    if report.ordinal and report.ordinal <= standing.ordinal:
        repeated = same and report.ordinal == standing.ordinal
        return None if repeated else Why.LATE
    return None if same else _no_move(standing, report)


def _no_move(now: Standing, report: Report) -> Why | None:
    if now.state is State.OFFLINE and now.on is not On.LOST:
        return Why.OVER
    if not fits(report.state, report.on):
        return Why.MEANINGLESS
    # Lost is a suspicion: whoever calls again with a living credential was there all along.
    table = MOVES[now.state] or MOVES[State.STARTING]
    return None if report.state in table else Why.NO_MOVE


def fits(state: State, on: On | None) -> bool:
    """Whether `on` goes with the state: blocked and offline need one of theirs, others none."""
    match state:
        case State.BLOCKED:
            return on in WAITS
        case State.OFFLINE:
            return on in GONE
        case _:
            return on is None


def _says(one: Standing | Report) -> tuple[State, On | None, str, int]:
    return (one.state, one.on, one.detail, one.debt)
