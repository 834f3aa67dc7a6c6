"""`mufakat policy`: which rules give leases to whom."""

from __future__ import annotations

import click

from mufakat.cli import attach, output
from mufakat.cli import resources as paths
from mufakat.cli.session import Group, Session, use


@click.group("policy", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """The policy file of this home, and what it would decide.

    \b
    Examples:
      mufakat policy
      mufakat policy explain "file:src/**"
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(show) or 0)
    return 0


@command.command("show")
@use
def show(session: Session, /) -> int:
    """Show the policy in force, and what is wrong with a newer one.

    \b
    Example:
      mufakat policy show
    """
    with attach.attached(session) as client:
        found = client.get("/policy")
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(output.pairs([(k, v) for k, v in found.items() if v not in (None, "", [])]))
    return 0


@command.command("explain")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option("--shared", is_flag=True, help="Ask for shared use.")
@use
def explain(session: Session, /, resources: tuple[str, ...], shared: bool) -> int:
    """Say what a request would get and by which rule; nothing is done.

    \b
    Example:
      mufakat policy explain repo:.
    """
    body = {"resources": paths.absolute(resources), "mode": "shared" if shared else "exclusive"}
    with attach.attached(session) as client:
        paths.register(client)
        found = client.post("/policy/explain", body)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(output.pairs(list(found.items())))
    return 0
