"""`mufakat export`: every record in one file that any database of Mufakat's takes."""

from __future__ import annotations

from pathlib import Path

import click

from mufakat.cli import output
from mufakat.cli.session import Command, Session, use
from mufakat.core.base import NotFound
from mufakat.sdk import home


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@use
def command(session: Session, /, file: Path) -> int:
    """Write every record into the new archive FILE, to be moved elsewhere.

    No server of this home may run. With `mufakat import` the archive goes into another home, into
    PostgreSQL or back.

    \b
    Example:
      mufakat export team.jsonl.gz
    """
    rows = _export(session.home, file.absolute())
    if session.json:
        click.echo(output.json_line({"path": str(file.absolute()), "rows": rows}))
        return 0
    click.echo(str(file.absolute()))
    click.echo(f"{rows:,} records.", err=True)
    return 0


def _export(place: Path, file: Path) -> int:
    import asyncio

    from mufakat import app, settings

    chosen = settings.load(place)
    if not (chosen.store.get_secret_value() or (place / home.DATABASE).exists()):
        raise NotFound(f"There is no database in {place}.", fix="Check `--home`.")
    return asyncio.run(app.export(chosen, file))
