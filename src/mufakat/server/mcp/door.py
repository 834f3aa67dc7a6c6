"""The MCP endpoint: speaks the protocol, hands each call on in the caller's own right."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from mufakat import __version__
from mufakat.app import App
from mufakat.core.base import MufakatError, NotAllowed
from mufakat.core.coordination.principal import Principal, Right
from mufakat.server.mcp import calls, tools

log = logging.getLogger(__name__)

BODY_BYTES = 1024 * 1024
Context = ServerRequestContext[Any, Any]


class Door:
    """An ASGI application for one path; the layers in front of it say who calls."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                inputSchema=tool.schema,
                annotations=types.ToolAnnotations(readOnlyHint=True) if tool.read_only else None,
            )
            for tool in tools.listed()
        ]
        server: Server[Any] = Server(
            "mufakat",
            version=__version__,
            instructions=tools.text("instructions"),
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # No sessions: every call carries its bearer, and a server that was started anew goes on.
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=BODY_BYTES
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the context is open."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)

    async def _list(
        self, context: Context, asked: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self._tools)

    async def _call(
        self, context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            by = _caller(context.request)
            if asked.name not in calls.CALLS:
                known = ", ".join(calls.CALLS)
                return _refused({"error": f"There is no tool {asked.name!r}; these are: {known}."})
            found = await calls.CALLS[asked.name](
                self._app, by, calls.parse(asked.name, asked.arguments)
            )
        except MufakatError as problem:
            refusal = {"error": str(problem), "code": problem.code, "fix": problem.fix}
            return _refused(refusal | problem.detail)
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - the door's edge: no fault may reach the agent as it is
            log.exception("fault in the MCP tool %s", asked.name)
            return _refused({"error": "Something went wrong inside Mufakat; see its log."})
        return _answer(found)


def _caller(request: Any) -> Principal:
    found = (
        request.scope.get("state", {}).get("principal") if isinstance(request, Request) else None
    )
    if not isinstance(found, Principal) or found.right is Right.JOIN:
        raise NotAllowed(
            "Tools are for agents that have joined.", fix="Join first, then use its token."
        )
    return found


def _answer(found: Any) -> types.CallToolResult:
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=str)
    return types.CallToolResult(content=[types.TextContent(text=text)])


def _refused(problem: dict[str, Any]) -> types.CallToolResult:
    text = json.dumps(problem, ensure_ascii=False, default=str)
    return types.CallToolResult(content=[types.TextContent(text=text)], isError=True)
