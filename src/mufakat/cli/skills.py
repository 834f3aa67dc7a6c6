"""`mufakat skills`: what agents may pull, and a person's consent to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import click

from mufakat.cli import attach, listing, output, resources
from mufakat.cli.session import Group, Session, use
from mufakat.core.terminal_text import clean


@click.group("skills", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Skills of this project and of yours, and your consent to them.

    \b
    Examples:
      mufakat skills
      mufakat skills show release
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("list")
@use
def list_command(session: Session, /) -> int:
    """List the skills that agents in the current folder can get.

    \b
    Example:
      mufakat skills list
    """
    with attach.attached(session) as client:
        found = client.get("/skills", {"project": resources.register(client)})
    if session.json:
        click.echo(output.json_text(found))
        return 0
    if found["items"]:
        head = ("NAME", "STATE", "DIGEST", "DESCRIPTION")
        click.echo(output.table(head, [_row(one) for one in found["items"]]))
    else:
        click.echo("There are none.", err=True)
    listing.left_out(found["skipped"])
    return 0


def _row(one: Mapping[str, Any]) -> tuple[str, str, str, str]:
    description = output.line(one["description"])
    return output.line(one["name"]), one["state"], one["digest"][:12], description


@command.command("show")
@click.argument("name")
@use
def show(session: Session, /, name: str) -> int:
    """Show what a skill says, and the digest that consent is given to.

    \b
    Example:
      mufakat skills show release
    """
    with attach.attached(session) as client:
        found = client.get(_path(name), {"project": resources.register(client)})
    if session.json:
        click.echo(output.json_text(found))
        return 0
    names = ("name", "description", "state", "origin", "path", "digest")
    click.echo(output.pairs((one, found[one]) for one in names))
    for file in found["files"]:
        click.echo(f"beside it: {output.line(file)}")
    click.echo(f"\n{clean(found['body'])}")
    return 0


@command.command("consent")
@click.argument("name")
@click.option("--digest", default="", metavar="HEX", help="Of the text that you have read.")
@use
def consent(session: Session, /, name: str, digest: str) -> int:
    """Let agents have a skill of the project, as long as it stays as it is now.

    With --digest it fails where the skill is no longer the text that you have read.

    \b
    Example:
      mufakat skills consent release
    """
    with attach.attached(session) as client:
        project = resources.register(client)
        seen = digest or client.get(_path(name), {"project": project})["digest"]
        body = {"digest": seen, "project": project}
        found = client.post(f"{_path(name)}/consent", body)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(f"Agents may have {output.line(found['name'])} ({found['digest'][:12]}).")
    return 0


def _path(name: str) -> str:
    return f"/skills/{quote(name, safe='')}"
