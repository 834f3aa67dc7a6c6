"""Runs the server: from the settings to the last closed file, in the foreground or in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass

import uvicorn

from mufakat import app as application
from mufakat.app import App
from mufakat.core.base import InUse
from mufakat.sdk import discovery
from mufakat.sdk import home as homes
from mufakat.server import files, listen, log
from mufakat.server.http import api
from mufakat.server.http.limits import Limits
from mufakat.server.mcp import endpoint
from mufakat.server.protocol import bounded
from mufakat.settings import Settings, chat_secrets

logger = logging.getLogger(__name__)

GRACE_SECONDS = 5
FLUSH_TRIES, FLUSH_PAUSE = 100, 0.01
ACCEPT_TURNS = 5
COLLECT = (20_000, 20, 20)
"""New objects between two looks for cycles; requests make few cycles and many objects."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Ready:
    """A server that answers."""

    url: str
    token: str


OnReady = Callable[[Ready], None]
Started = Future[tuple[Ready, Callable[[], None]]]
"""What a server's thread hands over when it answers, and how to stop it."""


class Running(uvicorn.Server):
    """uvicorn without its clock: it sleeps until it is asked to stop, and stops at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self.asked = asyncio.Event()
        self.released = asyncio.Event()
        """Nothing is left to tell, so connections may end."""

    def stop(self) -> None:
        """Ask for the end; call it on the server's own loop."""
        self.asked.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `serve`: ours end the process in order, not by a second signal."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self.asked.wait()
        await self._stop_accepting()
        await self.released.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if self.server_state.tasks:
            _, late = await asyncio.wait(self.server_state.tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._hang_up()

    async def _stop_accepting(self) -> None:
        """Close the listeners, but not under a connection that has just been accepted.

        asyncio loses such a connection's socket when the listener is closed before the loop has
        made a transport of it, some turns later.
        """
        loop = asyncio.get_running_loop()
        for listener in (one for server in self.servers for one in server.sockets):
            loop.remove_reader(listener.fileno())
        for _ in range(ACCEPT_TURNS):
            await asyncio.sleep(0)
        for server in self.servers:
            server.close()

    async def _hang_up(self) -> None:
        """Wait until what was sent has left; readers that do not take it are cut."""
        for _ in range(FLUSH_TRIES):
            if not self.server_state.connections:
                return
            await asyncio.sleep(FLUSH_PAUSE)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)


def serve(
    settings: Settings, *, on_ready: OnReady | None = None, limits: Limits | None = None
) -> None:
    """Serve until SIGINT or SIGTERM; then running turns are cancelled and their children ended.

    Raises InUse for a taken port or a second server, and what opening the store raises.
    """
    asyncio.run(_serve(settings, on_ready or _quiet, limits=limits or Limits()))


@contextlib.contextmanager
def in_thread(settings: Settings, *, limits: Limits | None = None) -> Iterator[Ready]:
    """Serve from a thread of this process while the context is open.

    Engines' processes die with the thread that starts them, and that is this one: leave the
    context only when the work is done.
    """
    started: Started = Future()
    thread = threading.Thread(
        target=_thread, args=(settings, started, limits or Limits()), name="mufakat-server"
    )
    thread.start()
    try:
        ready, stop = started.result()
    except BaseException:
        # Interrupted while it starts: it must not go on serving behind our back.
        started.add_done_callback(_stop_started)
        thread.join()
        raise
    try:
        yield ready
    finally:
        stop()
        thread.join()


def _stop_started(started: Started) -> None:
    if started.exception() is None:
        started.result()[1]()


def _thread(settings: Settings, started: Started, limits: Limits) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with _running(settings, limits) as (ready, server):
            started.set_result((ready, lambda: _from_outside(loop, server)))
            await server.asked.wait()

    try:
        asyncio.run(main())
    except BaseException as problem:  # noqa: BLE001 - handed on to the thread that waits
        if started.done():
            logger.exception("the server's thread failed")
        else:
            started.set_exception(problem)


def _from_outside(loop: asyncio.AbstractEventLoop, server: Running) -> None:
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(server.stop)


async def _serve(settings: Settings, on_ready: OnReady, *, limits: Limits) -> None:
    loop = asyncio.get_running_loop()
    async with _running(settings, limits) as (ready, server):
        for number in SIGNALS:
            loop.add_signal_handler(number, server.stop)
        _settle()
        on_ready(ready)
        await server.asked.wait()


def _settle() -> None:
    """Spare the collector what was made at the start and stays; it looks at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT)


@contextlib.asynccontextmanager
async def _running(settings: Settings, limits: Limits) -> AsyncIterator[tuple[Ready, Running]]:
    """A server that answers, for as long as the context is open."""
    home = homes.private_folder(settings.home)
    other = discovery.find(home)
    if other is not None:
        raise InUse(
            f"A server of this home runs already at {other.url} (pid {other.pid}).",
            fix="Use it, or stop it first.",
            pid=other.pid,
            address=other.url,
        )
    with contextlib.closing(listen.bind(settings.host, settings.port)) as listener:
        token, join = files.token(home), files.join_token(home)
        named = (application.store_password(settings), *chat_secrets(settings.chat))
        known = [secret for secret in (token, join, *named) if secret]
        with log.to_file(home, settings.log_level, known):
            app = await application.build(settings, address=listen.url(listener))
            try:
                async with answering(app, listener, token, limits=limits) as running:
                    yield running
            finally:
                await app.close()


@contextlib.asynccontextmanager
async def answering(
    app: App, listener: socket.socket, token: str, *, limits: Limits
) -> AsyncIterator[tuple[Ready, Running]]:
    settings = app.settings
    names = listen.names(settings.host) | set(settings.allowed_hosts)
    tools = endpoint.Endpoint(app)
    beside = dict.fromkeys(endpoint.PATHS, tools)
    door = api.create(app, token=token, hosts=names, limits=limits, beside=beside)
    server = Running(_config(door, limits))
    url = listen.url(listener)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        await _ready(server, serving)
        files.record(settings.home, url)
        logger.info("serving at %s", url)
        yield Ready(url, token), server
    finally:
        files.forget(settings.home)
        server.stop()
        # Turns first: those who follow them still hear how they ended.
        await app.turns.close()
        door.streams.close()
        server.released.set()
        await serving
        await tools.close()


async def _ready(server: Running, serving: asyncio.Task[None]) -> None:
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        ready.cancel()
        serving.result()


def _config(door: api.Server, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        door,
        http=bounded(limits.body_seconds),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=limits.header_bytes,
    )


def _quiet(_: Ready) -> None:
    """Nobody wants to know."""
