"""The MCP client of the official library, over HTTP and over the pipes of `mufakat mcp`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from equipment.command import Mufakat


@asynccontextmanager
async def over_http(home: Mufakat, token: str) -> AsyncIterator[ClientSession]:
    """A session under a token."""
    url = f"{home.client.endpoint.url}/mcp/"
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(url, http_client=http) as (reading, writing, *_),
        ClientSession(reading, writing) as opened,
    ):
        await opened.initialize()
        yield opened


@asynccontextmanager
async def over_pipes(home: Mufakat, *words: str, **environ: str) -> AsyncIterator[ClientSession]:
    """A session with the relay that agent CLIs start."""
    argv = home.argv("mcp", *words)
    started = StdioServerParameters(
        command=argv[0], args=argv[1:], env=home.environment(**environ), cwd=str(home.project)
    )
    async with (
        stdio_client(started) as (reading, writing),
        ClientSession(reading, writing) as opened,
    ):
        await opened.initialize()
        yield opened


async def call(session: ClientSession, tool: str, **arguments: Any) -> str:
    """Call a tool that must succeed; answers its text."""
    found = await session.call_tool(tool, arguments)
    assert not found.is_error, found
    return _text(found)


async def refused(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must refuse; answers why."""
    found = await session.call_tool(tool, arguments)
    assert found.is_error, found
    problem: dict[str, Any] = json.loads(_text(found))
    return problem


def _text(found: Any) -> str:
    return "".join(part.text for part in found.content)
