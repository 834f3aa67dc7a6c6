"""`mufakat backup`: a verified copy of the database, while everything goes on."""

from __future__ import annotations

from pathlib import Path

import click

from mufakat.cli import output
from mufakat.cli.attach import client_of
from mufakat.cli.session import Command, Session, use
from mufakat.sdk import discovery, home

SECONDS = 3600.0


@click.command(cls=Command)
@use
def command(session: Session, /) -> int:
    """Write a verified copy of the database and print its path.

    It goes through the running server where there is one, and needs none. Copies lie in the
    folder `backups` of the home; the newest seven are kept.

    \b
    Example:
      mufakat backup
    """
    running = None if session.local else discovery.find(session.home)
    if running is None:
        made = str(_offline(session.home))
    else:
        client = client_of(session.home, running)
        made = client.post("/backup", again=False, seconds=SECONDS)["path"]
    click.echo(output.json_line({"path": made}) if session.json else made)
    return 0


def _offline(place: Path) -> Path:
    import asyncio

    from mufakat import app, settings
    from mufakat.core.base import NotFound

    chosen = settings.load(place)
    if not (chosen.store.get_secret_value() or (place / home.DATABASE).exists()):
        raise NotFound(f"There is no database in {place}.", fix="Check `--home`.")
    target = home.private_folder(place / home.BACKUPS)
    return asyncio.run(app.backup(chosen, target))
