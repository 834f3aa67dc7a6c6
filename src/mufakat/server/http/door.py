"""What a route needs from the server: the application, who asks, and this door's shared parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Path, Request
from starlette.convertors import Convertor, register_url_convertor

from mufakat.app import App
from mufakat.core.base import Millis, NotAllowed, Unauthenticated
from mufakat.core.coordination.principal import Principal
from mufakat.server.hooks.reception import Reception
from mufakat.server.http import rights
from mufakat.server.http.auth import PRINCIPAL
from mufakat.server.http.limits import Limits
from mufakat.server.http.schemas import requests
from mufakat.server.http.streams import Streams
from mufakat.services.coordination.audit import Audit

T = TypeVar("T")

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class Door:
    """One server's share of this door."""

    app: App
    limits: Limits
    streams: Streams
    waits: Streams
    hooks: Reception
    audit: Audit


class AgentName(Convertor[str]):
    """An agent in an address: the identity of a sub-agent holds one slash."""

    regex = r"[^/]+(?:/(?!(?:state|inbox)$)[^/]+)?"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("agent", AgentName())


async def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    return door


async def _by(request: Request) -> Principal:
    by: Principal | None = getattr(request.state, PRINCIPAL, None)
    if by is None:
        raise Unauthenticated
    return by


async def admit(request: Request) -> None:
    """Refuse callers that have no right to a route; raises NotAllowed."""
    route = route_of(request)
    if route in rights.OPEN:
        return
    by = await _by(request)
    if not rights.permits(by, route):
        await (await _door(request)).audit.refused(by, route)
        raise NotAllowed(f"{route} is not for this kind of token.")


def route_of(request: Request) -> str:
    """The route of a request as the table of rights names it."""
    address: str = request.scope["route"].path_format
    return f"{request.method} {address.removeprefix(PREFIX)}"


def credential(by: Principal) -> str:
    """A name for a credential, to count by."""
    return by.identity or by.right.value


Here = Annotated[Door, Depends(_door)]
By = Annotated[Principal, Depends(_by)]
Id = Annotated[str, Path(pattern=requests.ID)]
Name = Annotated[
    str, Path(min_length=1, max_length=requests.LONGEST_NAME, description=requests.WHO)
]


async def clock(here: Door) -> Millis:
    """The store's time, by which leases end."""
    return await here.app.store.glance(lambda tx: tx.now())


def itself(name: str, by: Principal) -> str:
    """The agent of an address; `me` is the caller."""
    return by.identity if name == requests.ME and by.identity else name


async def patiently(
    request: Request, here: Door, by: Principal, *, wait: float, work: Callable[[], Awaitable[T]]
) -> T:
    """Do what may wait; it ends when the client leaves or the server does."""
    if not wait:
        return await work()
    return await here.waits.attend(credential(by), request.receive, work)
