"""`mufakat recall`: find again what was said in the conversations of a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, folder, output
from mufakat.cli.session import Command, Session, use
from mufakat.core.terminal_text import clean


@click.command(cls=Command)
@click.argument("query")
@click.option("--path", default=".", metavar="DIR", help="The project's folder.")
@click.option("--conversation", default="", metavar="ID", help="Only in this one.")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=10, metavar="N", help="At most so many turns."
)
@click.option(
    "--chars",
    type=click.IntRange(1, 200_000),
    default=8_000,
    metavar="N",
    help="Characters of all answers together.",
)
@use
def command(session: Session, /, query: str, path: str, **bounds: str | int) -> int:
    """Find what was said in this project, best first, with the turns beside it.

    QUERY is a question or words: who is named in it, and when, counts too. Nothing in it is a
    pattern.

    \b
    Examples:
      mufakat recall "why did we choose port 8123"
      mufakat recall "what did claude say about the lease in May" --limit 3
    """
    with attach.attached(session) as client:
        asked = {"q": query, "project": folder.project(client, path), **bounds}
        found = client.get("/recall", asked)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    for one in found["items"]:
        _print(session, one)
    if found["why"]:
        click.echo(output.line(found["why"]), err=True)
    return 0


def _print(session: Session, one: Mapping[str, Any]) -> None:
    head = output.paint(session, output.line(one["head"]), output.INDIGO)
    click.echo(f"{head}  {output.dim(session, output.line(one['why']))}")
    click.echo(clean(one["text"]).rstrip("\n") + "\n")
