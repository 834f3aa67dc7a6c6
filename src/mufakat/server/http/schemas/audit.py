"""Shapes of the event log as evidence."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, Plain, Query, Whole

Digest = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


class Expected(Body):
    """An anchor that was kept elsewhere; empty where there is none."""

    revision: Whole = 0
    chain: Digest = ""


class Verdict(Answer):
    """What a check of the whole log found."""

    revision: int
    chain: str
    """SHA-256 over the whole log; worth keeping elsewhere."""
    events: int
    """How many were read."""
    problems: list[str]


class LedgerPage(Query):
    """Which events to export."""

    after: Annotated[int, Field(ge=0, le=2**53), Plain] = 0
    limit: Annotated[int, Field(ge=1, le=2000), Plain] = 500
    kinds: Annotated[str, Field(max_length=1000)] = ""
    """Separated by commas; empty for all."""


class Sealed(Answer):
    """An event with its own digest and its link of the chain."""

    revision: int
    at: int
    """Milliseconds since 1970."""
    kind: str
    subject: str
    data: Any
    seal: str
    chain: str
    scrubbed: bool = False
    """A secret was taken out on the way, so that the seal no longer fits."""


class Ledger(Answer):
    """Sealed events, oldest first."""

    items: list[Sealed]
    next: int
    """What `after` goes on from."""
    head: int


class At(Query):
    """Which revision to look back to."""

    at: Annotated[int, Field(ge=-1, le=2**53), Plain] = -1
    """-1 for now."""


class Standing(Answer):
    """Where somebody stood."""

    state: str
    on: str | None
    run: str
    debt: int
    epoch: int
    role: str
    alias: str
    project: str | None


class HeldThen(Answer):
    """A lease that was not over."""

    holder: str
    resources: list[str]
    mode: str
    rank: int
    since: int
    expires: int


class LetterThen(Answer):
    """An entry of an inbox."""

    message: str
    status: str


class Picture(Answer):
    """Agents, leases and inboxes as of one revision."""

    revision: int
    agents: dict[str, Standing]
    leases: dict[str, HeldThen]
    inboxes: dict[str, dict[str, LetterThen]]
