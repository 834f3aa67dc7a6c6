"""`mufakat turns`: every request to an agent, and what can be done about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, follow, ids, listing, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Query


@click.group("turns", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List, cancel and retry requests.

    \b
    Examples:
      mufakat turns
      mufakat turns cancel t_01je8q
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("list")
@click.option("-c", "--conversation", default="", metavar="ID", help="Only this conversation's.")
@listing.paged("turn", limit=50)
@use
def list_command(session: Session, /, conversation: str, before: str, limit: int) -> int:
    """List turns, the newest first.

    \b
    Example:
      mufakat turns list --limit 5
    """
    query: Query = {"conversation": conversation, "before": before, "limit": limit}
    return listing.show(
        session,
        "/turns",
        query,
        head=("ID", "CREATED", "STATUS", "AGENT", "FAILURE"),
        row=_row,
        command="mufakat turns list",
    )


def _row(item: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        output.line(item["id"]),
        output.moment(item["created"]),
        output.line(item["status"]),
        output.line(item["agent"]),
        output.line(item.get("failure") or ""),
    )


@command.command("show")
@click.argument("turn")
@use
def show(session: Session, /, turn: str) -> int:
    """Show a turn and its answer.

    TURN is the turn's id, its beginning, or `last`, here and in the other commands.

    \b
    Example:
      mufakat turns show t_01je8q
    """
    with attach.attached(session) as client:
        found = client.get(f"/turns/{_id(turn)}")
    if session.json:
        click.echo(output.json_text(found))
        return 0
    for name in ("id", "status", "agent", "conversation", "pack", "failure", "message", "fix"):
        if found.get(name):
            click.echo(f"{name:<13} {output.line(found[name])}")
    if found.get("text"):
        click.echo(f"\n{clean(found['text'])}")
    return 0


@command.command("cancel")
@click.argument("turn")
@use
def cancel(session: Session, /, turn: str) -> int:
    """Cancel a turn and wait until its agent has stopped.

    \b
    Example:
      mufakat turns cancel t_01je8q
    """
    with attach.attached(session) as client:
        found = follow.cancel(client, _id(turn))
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(f"{found['id']}  {found['status']}")
    return 0


@command.command("retry")
@click.argument("turn")
@click.option("--no-wait", is_flag=True, help="Return at once; the agent works on.")
@use
def retry(session: Session, /, turn: str, no_wait: bool) -> int:
    """Ask the same again, as a new turn, and show the answer.

    \b
    Example:
      mufakat turns retry t_01je8q
    """
    with attach.attached(session) as client:
        after = follow.cursor(client)
        again: dict[str, Any] = client.post(f"/turns/{_id(turn)}/retry")
        if no_wait:
            click.echo(output.json_line(follow.result(again)) if session.json else again["id"])
            return 0
        final, code = follow.to_end(session, client, again, after=after, seconds=math.inf)
        return follow.conclude(session, final, code)


def _id(text: str) -> str:
    return ids.checked(text, listed_by="mufakat turns")
