"""`mufakat inbox`: reads messages and says what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.terminal_text import clean


@click.group("inbox", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Messages to you, or to the agent whose token is in MUFAKAT_TOKEN.

    \b
    Examples:
      mufakat inbox
      mufakat inbox ack 3 4
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what is done with.")
@click.option("--after", default=0, type=click.IntRange(0), help="Only behind this number.")
@click.option("--limit", default=50, type=click.IntRange(1, 200), help="At most so many.")
@use
def list_command(session: Session, /, everything: bool, after: int, limit: int) -> int:
    """Show messages, the oldest first; showing them changes nothing.

    \b
    Example:
      mufakat inbox list --all
    """
    query = {"after": after, "limit": limit, "open": 0 if everything else 1}
    with attach.attached(session) as client:
        found = client.get("/inbox", query)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    if not found["items"]:
        click.echo("Nothing is open.", err=True)
    for letter in found["items"]:
        _print(session, letter)
    return 0


@command.command("ack")
@click.argument("numbers", nargs=-1, type=click.IntRange(1), metavar="[NUMBER]...")
@click.option("--upto", default=None, type=click.IntRange(1), help="All up to this number.")
@click.option("--decline", default="", metavar="WHY", help="It will not be done, and why.")
@use
def ack(session: Session, /, numbers: tuple[int, ...], upto: int | None, decline: str) -> int:
    """Say that messages are done with, or that they will not be done.

    \b
    Examples:
      mufakat inbox ack 3 4
      mufakat inbox ack 5 --decline "not my part of the code"
    """
    if not numbers and upto is None:
        raise click.UsageError("Which messages? Give their numbers, or --upto N.")
    body: dict[str, Any] = {"decline": decline}
    body |= {"upto": upto} if upto is not None else {"numbers": list(numbers)}
    with attach.attached(session) as client:
        found = client.post("/inbox/ack", body)
    click.echo(output.json_line(found) if session.json else f"Done up to {found['acked']}.")
    return 0


@command.command("dead")
@use
def dead(session: Session, /) -> int:
    """List messages that could not be delivered or were never taken note of.

    \b
    Example:
      mufakat inbox dead
    """
    with attach.attached(session) as client:
        found = client.get("/dead-letters")
    if session.json:
        click.echo(output.json_text(found))
        return 0
    if not found["items"]:
        click.echo("There are none.", err=True)
    for letter in found["items"]:
        _print(session, letter)
    return 0


@command.command("redeliver")
@click.argument("message")
@click.argument("recipient")
@use
def redeliver(session: Session, /, message: str, recipient: str) -> int:
    """Put a dead letter into its recipient's inbox once more.

    \b
    Example:
      mufakat inbox redeliver m_01jf3k claude@greenmac
    """
    with attach.attached(session) as client:
        body = {"message": message, "recipient": recipient}
        found = client.post("/dead-letters/redeliver", body)
    click.echo(output.json_text(found) if session.json else f"Delivered as #{found['number']}.")
    return 0


def _print(session: Session, letter: Mapping[str, Any]) -> None:
    who = output.paint(session, output.line(letter["sender"]), output.INDIGO)
    marks = [letter["intent"], letter["status"]]
    marks += ["urgent"] if letter["priority"] == 3 else []
    marks += ["needs an answer"] if letter["requires_ack"] else []
    at = output.dim(session, output.moment(letter["sent"]))
    click.echo(f"\n#{letter['number']}  {who}  {', '.join(marks)}  {at}")
    click.echo(clean(letter["text"]).rstrip("\n"))
