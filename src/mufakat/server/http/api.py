"""Puts the door together: routes, errors, and the layers that every request passes first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from mufakat import __version__
from mufakat.app import App
from mufakat.core.base import InvalidInput, MufakatError
from mufakat.server.http import auth, body, guard, problem, reply
from mufakat.server.http.door import Door
from mufakat.server.http.limits import Limits
from mufakat.server.http.routes import (
    conversations,
    engines,
    events,
    packs,
    projects,
    system,
    turns,
)
from mufakat.server.http.streams import Streams

PREFIX = "/api/v1"
SUBJECTS = (projects, conversations, turns, packs, engines, events, system)


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

    def __init__(self, layers: ASGIApp, streams: Streams) -> None:
        self.layers = layers
        self.streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.layers(scope, receive, send)


def create(
    app: App, *, token: str, hosts: Iterable[str] = (), limits: Limits | None = None
) -> Server:
    """Build the door for an application; `hosts` are names it answers to beside loopback."""
    bounds = limits or Limits()
    streams = Streams(bounds.streams)
    inner = routes()
    inner.state.door = Door(app, bounds, streams)
    checked = auth.Auth(body.Body(inner, bounds), token)
    return Server(guard.Guard(checked, guard.rules(hosts, limits=bounds)), streams)


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
        api.include_router(subject.router, prefix=PREFIX)
    api.state.allowed = allowed()
    api.add_exception_handler(MufakatError, _known)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _refused)
    api.add_exception_handler(Exception, _fault)
    return api


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
    return [
        (compile_path(PREFIX + path)[0], ", ".join(sorted(methods)))
        for path, methods in found.items()
    ]


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
