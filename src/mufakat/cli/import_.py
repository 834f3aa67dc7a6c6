"""`mufakat import`: fills an empty store from an archive."""

from __future__ import annotations

from pathlib import Path

import click

from mufakat.cli import output
from mufakat.cli.session import Command, Session, use


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@use
def command(session: Session, /, file: Path) -> int:
    """Fill the empty store of this home from the archive FILE.

    The archive is checked as a whole before anything is written, and what was written is compared
    with it before it counts. Who follows the event log starts anew. No server of this home may
    run.

    \b
    Examples:
      mufakat import team.jsonl.gz
      MUFAKAT_STORE=postgresql://mufakat@db.example/mufakat mufakat import team.jsonl.gz
    """
    rows = _import(session.home, file)
    if session.json:
        click.echo(output.json_line({"imported": str(file.absolute()), "rows": rows}))
        return 0
    click.echo(f"Imported {rows:,} records from {file}.")
    return 0


def _import(place: Path, file: Path) -> int:
    import asyncio

    from mufakat import app, settings

    return asyncio.run(app.import_archive(settings.load(place), file))
