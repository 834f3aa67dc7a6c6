"""`mufakat restore`: puts a backup in the place of the database."""

from __future__ import annotations

from pathlib import Path

import click

from mufakat.cli import output
from mufakat.cli.session import Command, Session, use
from mufakat.core.base import InUse
from mufakat.sdk import discovery


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@use
def command(session: Session, /, file: Path) -> int:
    """Put the backup FILE in the place of the database.

    No server may run. The backup is checked first; the database that was there is kept beside
    the new one, and its path is printed.

    \b
    Example:
      mufakat restore backups/mufakat-20261130T120000Z-manual.db
    """
    place = session.home
    running = discovery.find(place)
    if running is not None:
        raise InUse(
            f"The server of this home runs as process {running.pid}.",
            fix="Stop it first: mufakat up --stop",
        )
    aside = _restore(place, file)
    if session.json:
        kept = None if aside is None else str(aside)
        click.echo(output.json_line({"restored": str(file.absolute()), "kept": kept}))
        return 0
    click.echo(f"Restored {file}.")
    if aside is not None:
        click.echo(f"The database before it is kept as {aside}.")
    return 0


def _restore(place: Path, file: Path) -> Path | None:
    from mufakat import app, settings

    return app.restore(settings.load(place), file)
