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
    if running is None:
        _refuse_silent(session)
    else:
        _end(session, running)
    if session.json:
        click.echo(output.json_line({"stopped": running.pid if running else None}))
    elif running is None:
        click.echo("No server runs.", err=True)
    else:
        click.echo(f"The server, process {running.pid}, has ended.", err=True)
    return 0


def _refuse_silent(session: Session) -> None:
    """A server that hangs must not pass for none; whose the process is, nobody can tell."""
    recorded = discovery.read(session.home)
    if recorded is None or not discovery.alive(recorded.pid):
        return
    pid, record = recorded.pid, session.home / home.SERVER
    raise Unavailable(
        f"Process {pid} is recorded as the server of this home, but it does not answer.",
        fix=f"If it is mufakat (ps -p {pid}), end it: kill -9 {pid}. Else delete {record}.",
    )


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
