"""`mufakat state`: says what an agent does now."""

from __future__ import annotations

from typing import Any

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Command, Session, use

STATES = ("starting", "working", "blocked", "idle", "offline")
REASONS = ("approval", "lease", "agent", "person", "tool", "error", "exited", "crashed", "lost")


@click.command(cls=Command)
@click.argument("state", required=False, type=click.Choice(STATES))
@click.option("--on", "reason", type=click.Choice(REASONS), help="What it is blocked on.")
@click.option("--detail", default="", metavar="TEXT", help="One line for people.")
@click.option(
    "--run", default="", metavar="ID", help="Which run reports; by default the present one."
)
@use
def command(
    session: Session, /, state: str | None, reason: str | None, detail: str, run: str
) -> int:
    """Report what an agent does now, or show it.

    It speaks for the agent whose token is in MUFAKAT_TOKEN.

    \b
    Examples:
      mufakat state working --detail "reading the tests"
      mufakat state idle
    """
    if state == "blocked" and not reason:
        raise click.UsageError("Blocked on what? Say it with --on.")
    with attach.attached(session) as client:
        if state is None:
            found = client.get("/agents/me")
        else:
            body: dict[str, Any] = {"state": state, "run": run, "detail": detail}
            found = client.put("/agents/me/state", body | ({"on": reason} if reason else {}))
    if session.json:
        click.echo(output.json_text(found))
    else:
        on = f": {found['on']}" if found.get("on") else ""
        click.echo(f"{output.line(found['identity'])}  {found['state']}{on}")
    return 0
