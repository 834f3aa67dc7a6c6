"""The shapes of agents: joining, reporting a state, and how one is shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mufakat.core.coordination.state import On, State
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, Flag, MaybeId, Name, Path, Query, Whole

ENGINE = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,23}$"
HOST = r"^(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252})?$"
PLAIN_NAME = r"^(?:[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,62}[A-Za-z0-9])?)?$"

PlainName = Annotated[str, Field(pattern=PLAIN_NAME)]
STATE = Annotated[State, Field(strict=False)]
REASON = Annotated[On, Field(strict=False)]


class NewAgent(Body):
    """Somebody who joins; the same engine, host and session join as the same instance again."""

    engine: Annotated[str, Field(pattern=ENGINE)]
    host: Annotated[str, Field(pattern=HOST)] = ""
    """Empty for the server's own."""
    role: PlainName = ""
    alias: PlainName = ""
    """A name to show and to route by."""
    project: Path = ""
    """Absolute path of the project's folder."""
    session: Name = ""
    """The engine's own session id."""
    pid: Whole = 0
    pid_start: Whole = 0
    """Clock ticks between boot and the start of the process."""
    boot: Name = ""
    """Boot id of its machine."""
    cwd: Path = ""
    repository: Path = ""
    """Root of the working tree."""
    parent: Name = ""
    """Identity that it was forked from."""
    threads: Annotated[list[Name], Field(max_length=64)] = Field(default_factory=list)
    """Conversations to follow."""


class StateReport(Body):
    """What an agent does now."""

    state: STATE
    run: Annotated[str, Field(max_length=200)] = ""
    """One life of the instance between start and end, as joining answered it."""
    ordinal: Whole = 0
    """Number of the report within its run; 0 for the next one."""
    on: REASON | None = None
    detail: Annotated[str, Field(max_length=1000)] = ""
    debt: Whole = 0
    """Unread messages left behind."""
    expect: Whole | None = None
    """Revision of the state that the reporter has seen last."""


class AgentPage(Query):
    """Which agents."""

    project: MaybeId = ""
    online: Flag = "0"
    """`1` leaves out those that are offline."""


class Leaving(Query):
    """Why an agent goes offline."""

    cause: Literal["exited", "crashed", "lost"] = "exited"


class InboxMark(Answer):
    """How far an inbox has come."""

    head: int
    """Number of the newest message."""
    acked: int
    """Up to here everything is done with."""


class Agent(Answer):
    """An instance that takes part; `state` is what it reported last."""

    identity: str
    engine: str
    host: str
    role: str
    alias: str
    project: str | None
    parent: str
    epoch: int
    state: Literal["starting", "working", "blocked", "idle", "offline"]
    on: str
    """What it waits for, or how it went offline."""
    detail: str
    since: str
    run: str
    ordinal: int
    debt: int
    revision: int
    created: str
    seen: str
    pid: int
    cwd: str
    repository: str
    inbox: InboxMark


class Joined(Agent):
    """An agent that has joined, with its token, which is shown this once."""

    token: str
    resumed: bool
    """The session was known: it is the same instance again."""


class Paused(Answer):
    """Whether all agents are paused."""

    paused: bool
