"""`mufakat engines`: which agents can be asked on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Command, Session, use


@click.command(cls=Command)
@use
def command(session: Session, /) -> int:
    """List the engines that can be asked.

    \b
    Example:
      mufakat engines --json
    """
    with attach.attached(session) as client:
        found = client.get("/engines")
    if session.json:
        click.echo(output.json_text(found))
        return 0
    click.echo(table(found))
    return 0


def table(found: Mapping[str, Any]) -> str:
    """One row an engine; a star marks the default one."""
    rows = [
        (
            output.line(engine["name"]) + (" *" if engine["name"] == found["default"] else ""),
            "ready" if engine["available"] else "not here",
            output.line(engine["version"]) or "–",
            output.line(engine["login"]),
            output.line(engine["path"] or engine["problem"]) or "–",
        )
        for engine in found["engines"]
    ]
    return output.table(("ENGINE", "STATE", "VERSION", "LOGIN", "PATH"), rows)
