"""`mufakat check`: whether the database is sound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from mufakat.cli import exit_codes, output
from mufakat.cli.attach import client_of
from mufakat.cli.session import Command, Session, use
from mufakat.sdk import discovery, home

SECONDS = 3600.0


@click.command(cls=Command)
@click.option("--deep", is_flag=True, help="Read every record and compare its checksum.")
@use
def command(session: Session, /, deep: bool) -> int:
    """Check the database for damage; exit code 1 where there is some.

    It goes through the running server where there is one, and needs none.

    \b
    Example:
      mufakat check --deep
    """
    running = None if session.local else discovery.find(session.home)
    if running is None:
        found = _offline(session.home, deep=deep)
    else:
        client = client_of(session.home, running)
        found = client.post("/check", {"deep": deep}, seconds=SECONDS)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(_render(found))
    return exit_codes.FAILED if found["problems"] else exit_codes.OK


def _render(found: Mapping[str, Any]) -> str:
    facts = output.pairs(found["facts"].items())
    if not found["problems"]:
        return f"{facts}\nThe database is sound."
    problems = [f"problem: {output.line(problem)}" for problem in found["problems"]]
    fix = "fix: mufakat restore FILE, with the newest good backup"
    return "\n".join([facts, *problems, fix])


def _offline(place: Path, *, deep: bool) -> dict[str, Any]:
    import asyncio

    from mufakat import app, settings
    from mufakat.core.base import NotFound

    chosen = settings.load(place)
    if not (chosen.store.get_secret_value() or (place / home.DATABASE).exists()):
        raise NotFound(f"There is no database in {place}.", fix="Check `--home`.")
    health = asyncio.run(app.check(chosen, deep=deep))
    return {"problems": list(health.problems), "facts": dict(health.facts)}
