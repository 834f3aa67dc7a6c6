"""`mufakat wait`: returns when agents are in a state."""

from __future__ import annotations

import click

from mufakat.cli import attach, duration, output
from mufakat.cli.session import Command, Session, use
from mufakat.sdk.agent import condition

TIME = duration.Duration()


@click.command(cls=Command)
@click.argument("conditions", nargs=-1, required=True, metavar="CONDITION...")
@click.option("--any", "any_of", is_flag=True, help="One condition is enough.")
@click.option("--timeout", default="60s", type=TIME, help="How long to wait at most.")
@use
def command(session: Session, /, conditions: tuple[str, ...], any_of: bool, timeout: float) -> int:
    """Wait until agents are in a state.

    The exit code is 3 where the time is over first. A condition is WHO=STATE, with several states
    split by `|` and `for 2s` where it must last.

    \b
    Examples:
      mufakat wait role:developer=idle --timeout 10m
      mufakat wait "codex@greenmac=idle|offline for 2s"
    """
    try:
        asked = [condition(text) for text in conditions]
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    body = {"conditions": asked, "every": not any_of, "seconds": timeout}
    with attach.attached(session) as client:
        found = client.post("/wait", body, seconds=timeout + 30)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo("met" if found["met"] else "not met")
    return 0 if found["met"] else 3
