"""Gives a command its server: the running one, a new detached one, or one inside the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mufakat.cli import launch
from mufakat.cli.session import Session
from mufakat.sdk import discovery
from mufakat.sdk.client import Client, Endpoint


@contextmanager
def attached(session: Session) -> Iterator[Client]:
    """A client of this home's server; starts one detached where none runs."""
    place = session.home
    if session.local:
        from mufakat.cli import up

        with up.in_process(place) as endpoint:
            yield Client(endpoint)
        return
    yield client_of(place, discovery.find(place) or launch.start(place))


def client_of(place: Path, endpoint: Endpoint) -> Client:
    """A client that finds the home's server again when it was started anew."""
    return Client(endpoint, find=lambda: discovery.find(place))
