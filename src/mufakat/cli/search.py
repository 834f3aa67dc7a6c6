"""`mufakat search`: find places in the code of a project."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, folder, output
from mufakat.cli.session import Command, Session, use
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Client

POLL_SECONDS = 0.2


@click.command(cls=Command)
@click.argument("query")
@click.option("--path", default=".", metavar="DIR", help="The project's folder.")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=10, metavar="N", help="At most so many."
)
@click.option(
    "--chars",
    type=click.IntRange(0, 200_000),
    default=20_000,
    metavar="N",
    help="Characters of all texts together; 0 is no limit.",
)
@click.option("--text", is_flag=True, help="The lines of every hit too.")
@use
def command(session: Session, /, query: str, path: str, text: bool, **size: int) -> int:
    """Find places in the code of this project, best first.

    Words and names are looked for, not patterns. Every line names the place, the symbol that it
    lies in, its score and why it was found. The first search indexes the project.

    \b
    Examples:
      mufakat search "where are cookies parsed"
      mufakat search SessionStore --limit 3 --text
    """
    with attach.attached(session) as client:
        project = folder.project(client, path)
        if project:
            _wait(session, client, project)
        asked: dict[str, str | int] = {"q": query, "project": project, **size}
        found = client.get("/search/code", asked)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    for one in found["items"]:
        _print(session, one, text)
    if found["why"]:
        click.echo(output.line(found["why"]), err=True)
    return 0


def _print(session: Session, one: Mapping[str, Any], text: bool) -> None:
    place = output.paint(
        session, output.line(f"{one['path']}:{one['start']}-{one['end']}"), output.INDIGO
    )
    symbol = output.line(one["symbol"]) or "-"
    why = output.dim(session, output.line(one["why"]))
    click.echo(f"{place}  {symbol}  {one['score']:.2f}  {why}")
    if text:
        click.echo(clean(one["text"]) + "\n")


def _wait(session: Session, client: Client, project: str) -> None:
    """See the first index through, and say how far it is; a later one is not waited for."""
    state = client.get(f"/projects/{project}/index")
    if state["files"] or state["error"]:
        return
    state = client.post(f"/projects/{project}/index", {})
    while state["running"]:
        if state["of"] and session.colour:
            click.echo(
                f"\rIndexing: {state['done']:,} of {state['of']:,} files", nl=False, err=True
            )
        time.sleep(POLL_SECONDS)
        state = client.get(f"/projects/{project}/index")
    if session.colour:
        click.echo("\r" + " " * 60 + "\r", nl=False, err=True)
