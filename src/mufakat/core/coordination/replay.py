"""The state of coordination at any revision, folded from the events up to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from mufakat.core.base import LoggedEvent, Millis, Revision
from mufakat.core.coordination.inbox import Status
from mufakat.core.coordination.state import On, State

SYSTEM = "mufakat@localhost:000000"


@dataclass(frozen=True, slots=True)
class Agent:
    """Where somebody stood."""

    state: str
    on: str | None = None
    run: str = ""
    debt: int = 0
    epoch: int = 1
    role: str = ""
    alias: str = ""
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A lease that was not over."""

    holder: str
    resources: tuple[str, ...]
    mode: str
    rank: int
    since: Millis
    expires: Millis


@dataclass(frozen=True, slots=True)
class Letter:
    """An entry of an inbox; one that was only offered counts as queued."""

    message: str
    status: str


@dataclass(slots=True)
class Picture:
    """Agents, leases and inboxes as of one revision."""

    revision: Revision = Revision(0)
    agents: dict[str, Agent] = field(default_factory=dict)
    leases: dict[str, Held] = field(default_factory=dict)
    inboxes: dict[str, dict[int, Letter]] = field(default_factory=dict)


def fold(picture: Picture, events: Iterable[LoggedEvent], *, until: Revision) -> Picture:
    """Let events happen to a picture, up to and with revision `until`; answers the same picture."""
    for event in events:
        if event.revision > until:
            break
        change = CHANGES.get(event.kind)
        if change is not None:
            change(picture, event)
        picture.revision = event.revision
    return picture


def _joined(picture: Picture, event: LoggedEvent) -> None:
    said = event.data
    known = picture.agents.get(event.subject)
    before = known or Agent(
        str(said.get("state", State.STARTING.value)), said.get("on"), str(said.get("run", ""))
    )
    picture.agents[event.subject] = replace(
        before,
        epoch=int(said.get("epoch", 1)),
        role=str(said.get("role", "")),
        alias=str(said.get("alias", "")),
        project=said.get("project"),
    )


def _state(picture: Picture, event: LoggedEvent) -> None:
    said = event.data
    before = picture.agents.get(event.subject, Agent(State.STARTING.value))
    picture.agents[event.subject] = replace(
        before,
        state=str(said["to"]),
        on=said.get("on"),
        run=str(said.get("run", "")),
        debt=int(said.get("debt", 0)),
        epoch=int(said.get("epoch", before.epoch)),
    )


def _paused(picture: Picture, event: LoggedEvent) -> None:
    _system(picture, State.BLOCKED, On.PERSON.value)


def _unpaused(picture: Picture, event: LoggedEvent) -> None:
    _system(picture, State.IDLE, None)


def _system(picture: Picture, state: State, on: str | None) -> None:
    before = picture.agents.get(SYSTEM, Agent(state.value))
    picture.agents[SYSTEM] = replace(before, state=state.value, on=on)


def _granted(picture: Picture, event: LoggedEvent) -> None:
    said = event.data
    picture.leases[event.subject] = Held(
        holder=str(said["holder"]),
        resources=tuple(map(str, said["resources"])),
        mode=str(said["mode"]),
        rank=int(said["rank"]),
        since=event.at,
        expires=Millis(said["expires"]),
    )


def _renewed(picture: Picture, event: LoggedEvent) -> None:
    known = picture.leases.get(event.subject)
    if known is not None:
        expires = Millis(event.data["expires"])
        picture.leases[event.subject] = replace(known, expires=expires)


def _ended(picture: Picture, event: LoggedEvent) -> None:
    picture.leases.pop(event.subject, None)


def _letter(picture: Picture, event: LoggedEvent) -> None:
    number = int(event.data.get("number", 0))
    if number:
        message, status = str(event.data["message"]), str(event.data["status"])
        picture.inboxes.setdefault(event.subject, {})[number] = Letter(message, status)


def settled(status: Status) -> str:
    """A status as a picture tells it."""
    return Status.QUEUED.value if status is Status.OFFERED else status.value


Change = Callable[[Picture, LoggedEvent], None]
CHANGES: Mapping[str, Change] = MappingProxyType(
    {
        "agent.joined": _joined,
        "agent.state": _state,
        "agents.paused": _paused,
        "agents.unpaused": _unpaused,
        "lease.granted": _granted,
        "lease.renewed": _renewed,
        **dict.fromkeys(
            ("lease.released", "lease.expired", "lease.lost", "lease.transferred"), _ended
        ),
        **dict.fromkeys(
            (
                "inbox.delivered",
                "inbox.shown",
                "inbox.acked",
                "inbox.declined",
                "inbox.expired",
                "inbox.dead",
            ),
            _letter,
        ),
    }
)
KINDS = tuple(CHANGES)
"""Of the events that change a picture."""


def shown(picture: Picture) -> dict[str, Any]:
    """A picture as plain data."""
    return {
        "revision": picture.revision,
        "agents": {name: _plain(one) for name, one in sorted(picture.agents.items())},
        "leases": {id: _plain(one) for id, one in sorted(picture.leases.items())},
        "inboxes": {
            name: {str(number): _plain(one) for number, one in sorted(letters.items())}
            for name, letters in sorted(picture.inboxes.items())
        },
    }


def _plain(one: Agent | Held | Letter) -> dict[str, Any]:
    found = {name: getattr(one, name) for name in one.__slots__}
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.items()
    }
