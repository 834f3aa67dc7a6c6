"""A real application over a temporary store: in process, and behind a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from doors.http.room import Caller, Room
from mufakat import app as application
from mufakat.sdk import home as homes
from mufakat.server import main
from mufakat.server.http import api
from mufakat.server.http.limits import Limits
from mufakat.settings import Settings

TOKEN = "test-token-0123456789abcdefghijklmnop"
QUICK = Limits(body_seconds=1, ping_seconds=0.5, progress_seconds=0.3, stuck_seconds=1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "README.md").write_text("# A project\n\nIt is for tests.\n")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", default_engine="scripted")


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[application.App]:
    built = await application.build(settings)
    try:
        yield built
    finally:
        await built.close()


@pytest.fixture
def door(app: application.App) -> api.Server:
    return api.create(app, token=TOKEN, limits=QUICK)


@pytest.fixture
async def bare(door: api.Server) -> AsyncIterator[httpx.AsyncClient]:
    """A client that sends nothing by itself."""
    transport = httpx.ASGITransport(app=door, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
async def client(bare: httpx.AsyncClient) -> httpx.AsyncClient:
    """A client with the operator's token."""
    bare.headers["authorization"] = f"Bearer {TOKEN}"
    return bare


@pytest.fixture
def room(bare: httpx.AsyncClient, settings: Settings, project: Path) -> Room:
    """Agents can join here, with the home's own token for that."""
    token = (settings.home / homes.JOIN_TOKEN).read_text("ascii").strip()
    return Room(bare, Caller(bare, TOKEN), Caller(bare, token), str(project))


@pytest.fixture
def server(settings: Settings) -> Iterator[main.Ready]:
    """A real server on a free port, with short deadlines."""
    with main.in_thread(settings, limits=QUICK) as ready:
        yield ready
