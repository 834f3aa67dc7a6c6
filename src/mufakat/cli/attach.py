"""Gives a command its server: the running one, a new detached one, or one inside the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import mufakat
from mufakat.cli import launch
from mufakat.cli.session import Session
from mufakat.core.terminal_text import clean
from mufakat.sdk import discovery
from mufakat.sdk.client import Client, Endpoint


@contextmanager
def attached(session: Session) -> Iterator[Client]:
    """A client of this home's server; starts one detached where none runs.

    A token in the environment, as agents have it, is used instead of the person's own.
    """
    place = session.home
    own = discovery.given(os.environ, place)
    if own is not None:
        yield Client(own, old=_tell)
        return
    if session.local:
        from mufakat.cli import up

        with up.in_process(place) as endpoint:
            yield Client(endpoint)
        return
    endpoint = discovery.find(place) or launch.start(place)
    if endpoint.version != mufakat.__version__ and not session.json_errors:
        what = f"the server is version {clean(endpoint.version)}, this is {mufakat.__version__}"
        click.echo(f"note: {what}; `mufakat up --stop` ends it.", err=True)
    yield client_of(place, endpoint)


def client_of(place: Path, endpoint: Endpoint) -> Client:
    """A client that finds the home's server again when it was started anew."""
    return Client(endpoint, find=lambda: discovery.find(place), old=_tell)


def _tell(since: str) -> None:
    click.echo(f"note: the database is away; this was read at {clean(since)}.", err=True)
