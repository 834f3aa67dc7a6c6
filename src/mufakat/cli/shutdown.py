"""Stops a running server in good order."""

from __future__ import annotations

import os
import signal
import time

import click

from mufakat.cli import output
from mufakat.cli.session import Session
from mufakat.core.base import NotAllowed, Unavailable
from mufakat.sdk import discovery, home
from mufakat.sdk.client import Endpoint

STOP_SECONDS = 30.0
LOOK_SECONDS = 0.1


def stop(session: Session, running: Endpoint | None) -> int:
    """End the server, and answer when its process is gone."""
    if running is not None:
        _end(session, running)
    if session.json:
        click.echo(output.json_line({"stopped": running.pid if running else None}))
    elif running is None:
        click.echo("No server runs.", err=True)
    else:
        click.echo(f"The server, process {running.pid}, has ended.", err=True)
    return 0


def _end(session: Session, running: Endpoint) -> None:
    try:
        os.kill(running.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as problem:
        raise NotAllowed(
            f"Process {running.pid} belongs to another user.", fix="Stop it as that user."
        ) from problem
    limit = time.monotonic() + STOP_SECONDS
    while discovery.alive(running.pid):
        if time.monotonic() > limit:
            raise Unavailable(
                f"The server, process {running.pid}, has not ended yet.",
                fix=f"Look into {session.home / home.SERVER_LOG}.",
            )
        time.sleep(LOOK_SECONDS)
