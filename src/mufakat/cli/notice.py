"""`mufakat notice`: facts that everybody in the project should know for a while."""

from __future__ import annotations

from urllib.parse import quote

import click

from mufakat.cli import attach, duration, output, resources
from mufakat.cli.session import Group, Session, use

TIME = duration.Duration()


@click.group("notice", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Shared facts of a project that expire by themselves.

    \b
    Examples:
      mufakat notice set staging "staging is down" --ttl 1h
      mufakat notice
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("set")
@click.argument("key")
@click.argument("text")
@click.option("--ttl", default="1h", type=TIME, help="How long it holds.")
@use
def set_command(session: Session, /, key: str, text: str, ttl: float) -> int:
    """Set a fact; the newest word on a key counts.

    \b
    Example:
      mufakat notice set rollback "rollback of v12 is running" --ttl 20m
    """
    with attach.attached(session) as client:
        body = {"text": text, "ttl": ttl, "project": resources.register(client)}
        found = client.put(f"/notices/{quote(key, safe='')}", body)
    click.echo(output.json_text(found) if session.json else output.line(found["text"]))
    return 0


@command.command("list")
@use
def list_command(session: Session, /) -> int:
    """List the facts of the project in the current folder.

    \b
    Example:
      mufakat notice list
    """
    with attach.attached(session) as client:
        found = client.get("/notices", {"project": resources.register(client)})
    if session.json:
        click.echo(output.json_text(found))
    elif found["items"]:
        rows = [
            (
                output.line(one["key"]),
                output.moment(one["expires"], "%H:%M"),
                output.line(one["text"]),
            )
            for one in found["items"]
        ]
        click.echo(output.table(("KEY", "UNTIL", "TEXT"), rows))
    else:
        click.echo("There are none.", err=True)
    return 0


@command.command("drop")
@click.argument("key")
@use
def drop(session: Session, /, key: str) -> int:
    """Take a fact back.

    \b
    Example:
      mufakat notice drop staging
    """
    with attach.attached(session) as client:
        client.delete(f"/notices/{quote(key, safe='')}?project={resources.register(client)}")
    click.echo(output.json_line({"dropped": key}) if session.json else "Dropped.")
    return 0
