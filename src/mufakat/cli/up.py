"""`mufakat up`: starts the server here, detached, or inside another command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from mufakat.cli import launch, output, shutdown
from mufakat.cli.session import Command, Session, use
from mufakat.core.base import InvalidInput
from mufakat.sdk import discovery
from mufakat.sdk.client import Endpoint


@click.command(cls=Command)
@click.option("--detach", is_flag=True, help="Start it in the background and return.")
@click.option("--stop", is_flag=True, help="Stop the running server and wait for its end.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    metavar="N",
    help="Port; 0 takes a free one. The settings' port by default.",
)
@click.option(
    "--store",
    default=None,
    metavar="URL",
    help="postgresql://…; others see it in the list of processes, MUFAKAT_STORE they do not.",
)
@use
def command(
    session: Session, /, detach: bool, stop: bool, port: int | None, store: str | None
) -> int:
    """Start the server, or say where it runs.

    Without --detach it runs until Ctrl-C. Commands start one by themselves where none runs, so
    this is only needed to choose the port or to watch it.

    \b
    Examples:
      mufakat up
      mufakat up --detach --port 8123
      mufakat up --store postgresql://mufakat@db.example/mufakat
      mufakat up --stop
    """
    if detach and stop:
        raise InvalidInput("--detach and --stop exclude each other.", fix="Give one of them.")
    running = discovery.find(session.home)
    if stop:
        return shutdown.stop(session, running)
    if running is None and not detach:
        return _foreground(session, port, store)
    endpoint = running or launch.start(session.home, port=port, store=store)
    _say(session, endpoint, attached=running is not None)
    return 0


def _say(session: Session, endpoint: Endpoint, *, attached: bool) -> None:
    if session.json:
        facts = {"url": endpoint.url, "pid": endpoint.pid, "home": str(session.home)}
        click.echo(output.json_line(facts | {"attached": attached}))
        return
    click.echo(endpoint.url)
    what = "runs already" if attached else "runs"
    click.echo(f"The server {what} as process {endpoint.pid}.", err=True)


@contextmanager
def in_process(place: Path) -> Iterator[Endpoint]:
    """Run the application inside this process for one command."""
    from mufakat import settings
    from mufakat.server import main as server

    with server.in_thread(settings.load(place)) as ready:
        yield Endpoint(ready.url, ready.token, os.getpid())


def _foreground(session: Session, port: int | None, store: str | None) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    from pydantic import SecretStr

    from mufakat import settings
    from mufakat.server import main as server

    chosen = settings.load(session.home)
    if port is not None:
        chosen = chosen.model_copy(update={"port": port})
    if store is not None:
        chosen = chosen.model_copy(update={"store": SecretStr(store)})

    def tell(ready: server.Ready) -> None:
        _say(session, Endpoint(ready.url, ready.token, os.getpid()), attached=False)

    server.serve(chosen, on_ready=tell)
    return 0
