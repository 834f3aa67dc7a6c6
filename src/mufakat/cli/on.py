"""`mufakat on`: does something when an agent comes into a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, ids, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.base import InvalidInput
from mufakat.sdk.agent import condition

ACTIONS = ("send", "enqueue", "release", "webhook")


@click.group("on", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Reactions: when an agent comes into a state, do something.

    \b
    Examples:
      mufakat on add role:developer=idle send to=role:reviewer body="please review"
      mufakat on list
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("add")
@click.argument("when", metavar="CONDITION")
@click.argument("action", type=click.Choice(ACTIONS))
@click.argument("data", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--always", is_flag=True, help="Each time anew; else once.")
@use
def add(session: Session, /, when: str, action: str, data: tuple[str, ...], always: bool) -> int:
    """Keep a reaction; it also fires where the condition holds already.

    `send` takes to= and body=, `enqueue` prompt=, engine= and role=, `release` lease=,
    `webhook` url=.

    \b
    Example:
      mufakat on add "codex@greenmac=idle for 2s" enqueue engine=claude prompt="Review it."
    """
    try:
        asked = condition(when)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    body = {
        "condition": asked,
        "action": action,
        "data": dict(_pair(text) for text in data),
        "once": not always,
    }
    with attach.attached(session) as client:
        found = client.post("/reactions", body)
    click.echo(output.json_text(found) if session.json else output.line(found["id"]))
    return 0


@command.command("list")
@use
def list_command(session: Session, /) -> int:
    """List the reactions that may still fire.

    \b
    Example:
      mufakat on list
    """
    with attach.attached(session) as client:
        found = client.get("/reactions")
    if session.json:
        click.echo(output.json_text(found))
    elif found["items"]:
        head = ("ID", "WHEN", "DO")
        click.echo(output.table(head, [_row(item) for item in found["items"]]))
    else:
        click.echo("There are none.", err=True)
    return 0


@command.command("remove")
@click.argument("id")
@use
def remove(session: Session, /, id: str) -> int:
    """Remove a reaction.

    \b
    Example:
      mufakat on remove r_01jf3k
    """
    with attach.attached(session) as client:
        client.delete(f"/reactions/{ids.checked(id, listed_by='mufakat on list')}")
    click.echo(output.json_line({"removed": id}) if session.json else "Removed.")
    return 0


def _row(item: Mapping[str, Any]) -> tuple[str, str, str]:
    when = item["condition"]
    lasting = f" for {when['seconds']:g}s" if when["seconds"] else ""
    data = " ".join(f"{name}={value}" for name, value in item["data"].items())
    return (
        output.line(item["id"]),
        output.line(f"{when['who']}={'|'.join(when['states'])}{lasting}"),
        output.line(f"{item['action']} {data}"),
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidInput(f"{text!r} is not NAME=VALUE.", fix="For example: to=role:reviewer")
    return name, value
