"""The shapes of leases: asking, holding, queueing, and being refused."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mufakat.core.coordination.lease import Mode
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, Name, Path, Query

DIGITS = r"^-?[0-9]{1,19}$"
LARGEST = 2**63 - 1

_WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        if not _WHOLE.fullmatch(value):
            raise ValueError("it is not a whole number in decimal digits")
        return int(value)
    return value


Fence = Annotated[
    int,
    Field(ge=-LARGEST, le=LARGEST),
    BeforeValidator(_whole, json_schema_input_type=int | Annotated[str, Field(pattern=DIGITS)]),
]
"""63 bits; a text of digits or a number. Most JSON readers round large numbers: send the text."""
Resource = Annotated[str, Field(min_length=1, max_length=512)]
Resources = Annotated[list[Resource], Field(min_length=1, max_length=32)]
Ttl = Annotated[float, Field(ge=5, le=86_400, allow_inf_nan=False)]


class NewLease(Body):
    """What somebody asks for: all of it or nothing."""

    resources: Resources
    """Keys `kind:name`; path kinds may be patterns."""
    mode: Annotated[Mode, Field(strict=False)] = Mode.EXCLUSIVE
    slots: Annotated[int, Field(ge=1, le=1024)] = 1
    """How many may hold each at a time."""
    ttl: Ttl = 900
    """Seconds."""
    wait: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = 0
    """Seconds to stand in the queue; leaving ends it."""
    reason: Annotated[str, Field(max_length=1000)] = ""
    next_step: Annotated[str, Field(max_length=4000)] = ""
    """Handed to whoever has it next."""
    deputy: Name = ""
    """Identity that gets it first when the holder is gone."""
    rank: Annotated[int, Field(ge=0, le=3)] | None = None
    """Class to ask in; the policy may lower it and never raises it."""


class Renewal(Body):
    """More time, from now on."""

    fence: Fence
    ttl: Ttl = 900


class Release(Body):
    """Giving it back, or putting off that it is taken."""

    fence: Fence


class Transfer(Body):
    """Handing it to another agent."""

    fence: Fence
    to: Annotated[str, Field(min_length=1, max_length=200)]


class Steal(Body):
    """Taking it from its holder; it is audited."""

    resources: Resources
    reason: Annotated[str, Field(min_length=1, max_length=1000)]
    ttl: Ttl = 900


class FenceCheck(Body):
    """Whether a fence is the newest of its resource, and held."""

    resource: Resource
    fence: Fence


class Paths(Body):
    """Files that are about to be changed."""

    paths: Annotated[list[Path], Field(min_length=1, max_length=64)]


class LeasePage(Query):
    """Which leases; empty fields take all live ones."""

    holder: Name = ""
    resource: Annotated[str, Field(max_length=512)] = ""


class Lease(Answer):
    """A grant; `fences` go to whatever guards the resource."""

    id: str
    holder: str
    resources: list[str]
    mode: Literal["exclusive", "shared"]
    slots: int
    fences: dict[str, str]
    since: str
    expires: str
    expires_in: float
    """Seconds; 0 where it has ended."""
    reason: str
    next_step: str
    deputy: str
    rank: int
    state: Literal["live", "claimable", "ended"]
    """`claimable`: granted to somebody who waited and has to renew it soon."""
    cause: str
    """Why it ended."""
    preempt_at: str | None
    """When it passes to somebody of a higher class, unless it is given back before."""


class Granted(Lease):
    """A lease as it was granted."""

    clamped: bool
    """The class asked for was lowered by the policy."""


class Holder(Answer):
    """Who stands in the way."""

    holder: str
    resource: str
    since: str
    remaining: float
    """Seconds until it expires."""
    reason: str
    lease: str


class Guarded(Answer):
    """Who stands in the way of a change, if anybody."""

    holder: Holder | None


class Waiter(Answer):
    """An entry of the queue."""

    id: str
    holder: str
    """Who waits."""
    resources: list[str]
    mode: Literal["exclusive", "shared"]
    slots: int
    reason: str
    rank: int
    enqueued: str
    until: str


class Released(Answer):
    """`gone`: it was no longer theirs, and nothing changed."""

    answer: Literal["ok", "gone"]


class Checked(Answer):
    """Whether a fence still holds."""

    valid: bool
    holder: str
