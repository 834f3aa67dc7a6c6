"""`mufakat context`: what is new for an agent, as text to put before its prompt."""

from __future__ import annotations

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Command, Session, use


@click.command(cls=Command)
@click.option("--budget", default=8_000, type=click.IntRange(200, 60_000), help="Characters.")
@click.option("--shown", is_flag=True, help="Count it as read.")
@use
def command(session: Session, /, budget: int, shown: bool) -> int:
    """Print what is new for an agent: messages, states, leases, notices.

    Where nothing is new, nothing is printed.

    \b
    Example:
      mufakat context --budget 4000 --shown
    """
    with attach.attached(session) as client:
        found = client.get("/context", {"budget": budget})
        if shown and found["text"]:
            told = {name: found[name] for name in ("shown", "begun", "cursors", "revision")}
            client.post("/context/shown", told)
    if session.json:
        click.echo(output.json_text(found))
    elif found["text"]:
        click.echo(found["text"])
    return 0
