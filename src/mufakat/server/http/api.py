"""Puts the door together: routes, errors, and the layers that every request passes first."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from mufakat import __version__
from mufakat.app import App
from mufakat.core.base import InvalidInput, MufakatError
from mufakat.server.hooks import reception
from mufakat.server.http import auth, body, guard, problem, reply, rights, stale
from mufakat.server.http.door import PREFIX, Door, admit
from mufakat.server.http.limits import Limits
from mufakat.server.http.routes import (
    agents,
    audit,
    branches,
    chat,
    context,
    conversations,
    docs,
    engines,
    events,
    graph,
    hooks,
    leases,
    links,
    memory,
    messages,
    metrics,
    notices,
    packs,
    policy,
    projects,
    pulls,
    recall,
    roundtables,
    search,
    sessions,
    skills,
    system,
    turns,
    waiting,
)
from mufakat.server.http.streams import Streams
from mufakat.services.coordination.audit import Audit

SUBJECTS = (
    *(messages, context, leases, hooks, agents, waiting, notices, policy),
    *(memory, recall, skills, docs, links, sessions, search, graph),
    *(turns, roundtables, events, conversations, branches, packs, projects, pulls),
    *(engines, system, chat, audit),
)
"""What agents ask all the time comes first: addresses are compared in this order."""


class ProblemResponse(Response):
    """An error as the framework takes it."""

    def __init__(self, error: MufakatError, headers: dict[str, str] | None = None) -> None:
        super().__init__()
        self.answer = problem.answer(error, headers)
        self.status_code = self.answer.status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.answer.send(send)


class Server:
    """The whole door as one ASGI application."""

    def __init__(self, layers: ASGIApp, streams: Streams, waits: Streams) -> None:
        self.layers = layers
        self.streams = streams
        self.waits = waits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.layers(scope, receive, send)


class Fork:
    """Hands requests to the door of their path."""

    def __init__(self, inner: ASGIApp, beside: Mapping[str, ASGIApp]) -> None:
        self.inner = inner
        self.beside = beside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        await self.beside.get(path, self.inner)(scope, receive, send)


def create(
    app: App,
    *,
    token: str,
    hosts: Iterable[str] = (),
    limits: Limits | None = None,
    beside: Mapping[str, ASGIApp] = MappingProxyType({}),
) -> Server:
    """Build the door for an application; `hosts` are names it answers to beside loopback.

    `token` is the operator's; every other is an agent's, or the one to join with. `beside` are
    other doors by path, behind the same layers.
    """
    bounds = limits or Limits()
    streams = Streams(bounds.streams)
    inner = routes()
    waits = Streams(bounds.waits, closing=streams.closing)
    audit = Audit(app.store, time.monotonic)
    inner.state.door = Door(app, bounds, streams, waits, reception.of(app), audit)
    checked = auth.Auth(
        body.Body(Fork(inner, beside), bounds),
        token,
        app.agents.operator,
        app.agents.authenticate,
        opened=_opened(),
    )
    last = stale.Stale(checked, lambda: app.store.away, prefix=PREFIX)
    # A file does not go away: nothing has to be kept for it.
    layers = last if app.settings.store.get_secret_value() else checked
    return Server(guard.Guard(layers, guard.rules(hosts, limits=bounds)), streams, waits)


def routes() -> FastAPI:
    """The routes and their API document; needs a `state.door` before it can answer."""
    api = FastAPI(
        title="Mufakat",
        version=__version__,
        summary="The room where CLI coding agents work together.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=reply.ERRORS,
    )
    for subject in SUBJECTS:
        api.include_router(subject.router, prefix=PREFIX, dependencies=[Depends(admit)])
    api.include_router(metrics.router, dependencies=[Depends(admit)])
    api.state.allowed = allowed()
    api.add_exception_handler(MufakatError, _known)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)
    api.add_exception_handler(Exception, _fault)
    return api


def _opened() -> Callable[[str, str], bool]:
    """Whether a request needs no token of ours."""
    routes = [route.split(" ", 1) for route in rights.OPEN]
    table = [(method, compile_path(PREFIX + address)[0]) for method, address in routes]

    def opened(method: str, path: str) -> bool:
        return any(method == known and shape.match(path) for known, shape in table)

    return opened


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, MufakatError)
    return ProblemResponse(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"field": ".".join(str(part) for part in one["loc"][1:]), "message": one["msg"]}
        for one in error.errors()
    ]
    first = faults[0] if faults else {"field": "", "message": "not valid"}
    text = f"{first['field'] or 'The request'}: {first['message']}."
    return ProblemResponse(InvalidInput(text, fix="Correct the named field.", fields=faults))


def allowed() -> list[tuple[re.Pattern[str], str]]:
    """The methods of every address; the framework names those of one route alone."""
    found: dict[str, set[str]] = {}
    for subject in SUBJECTS:
        for route in subject.router.routes:
            if isinstance(route, APIRoute):
                found.setdefault(route.path, set()).update(route.methods or ())
    table = [
        (compile_path(PREFIX + path)[0], ", ".join(sorted(methods)))
        for path, methods in found.items()
    ]
    return [*table, (compile_path(metrics.PATH)[0], "GET")]


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        table: list[tuple[re.Pattern[str], str]] = request.app.state.allowed
        path = request.scope["path"]
        headers["allow"] = next((names for shape, names in table if shape.match(path)), "")
        headers.pop("Allow", None)
    return ProblemResponse(problem.from_http(error.status_code, str(error.detail)), headers)


async def _fault(request: Request, error: Exception) -> Response:
    return ProblemResponse(problem.internal())
