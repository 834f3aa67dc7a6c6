"""`mufakat sessions`: what CLIs keep of their own sessions, and taking one over."""

from __future__ import annotations

import click

from mufakat.cli import attach, listing, output, resources
from mufakat.cli.session import Group, Session, use


@click.group("sessions", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Sessions that Claude Code, Codex, Gemini CLI and OpenCode keep themselves.

    \b
    Examples:
      mufakat sessions
      mufakat sessions import 1a3503a1-6e38-5965-8826-6f199b473614
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("list")
@use
def list_command(session: Session, /) -> int:
    """List the sessions that ran in the current folder, the newest first.

    \b
    Example:
      mufakat sessions list
    """
    with attach.attached(session) as client:
        found = client.get("/sessions/native", {"project": resources.register(client)})
    if session.json:
        click.echo(output.json_text(found))
        return 0
    rows = [
        (
            output.line(one["engine"]),
            output.line(one["id"]),
            output.moment(one["at"]),
            output.line(one["conversation"] or "–"),
            output.line(one["summary"]),
        )
        for one in found["items"]
    ]
    if rows:
        click.echo(output.table(("ENGINE", "ID", "LAST", "CONVERSATION", "ABOUT"), rows))
    else:
        click.echo("There are none.", err=True)
    listing.left_out(found["skipped"])
    return 0


@command.command("import")
@click.argument("id")
@click.option("--engine", default="", metavar="NAME", help="Whose session, where several have it.")
@use
def take_over(session: Session, /, id: str, engine: str) -> int:
    """Keep a session as a conversation; the same one again adds only what is new.

    Only what you and the agent have said is kept. Nothing of it is run.

    \b
    Example:
      mufakat sessions import ses_dd2b1fb7affedky17fK6oRxebR --engine opencode
    """
    with attach.attached(session) as client:
        body = {"id": id, "engine": engine, "project": resources.register(client)}
        found = client.post("/sessions/native/import", body)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(f"{found['conversation']}: {found['added']} new of {found['turns']} turns.")
    return 0
