"""`mufakat search`: find places in the code of a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, folder, index, output
from mufakat.cli.session import Command, Session, use
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Client


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
@click.option("--exact", is_flag=True, help="Find the text as it is written, not its words.")
@click.option("--files", is_flag=True, help="Find the files that a described change touches.")
@click.option("--rawq", is_flag=True, help="Ask rawq, where it is installed, for the places.")
@click.option("--text", is_flag=True, help="The lines of every hit too.")
@use
def command(
    session: Session,
    /,
    *,
    query: str,
    path: str,
    exact: bool,
    files: bool,
    rawq: bool,
    text: bool,
    **size: int,
) -> int:
    """Find places in the code of this project, best first.

    Words and names are looked for, not patterns. Every line names the place, the symbol that it
    lies in, its score and why it was found. The first search indexes the project; Ctrl-C stops
    that, and the next search goes on from there.

    \b
    Examples:
      mufakat search "where are cookies parsed"
      mufakat search SessionStore --limit 3 --text
      mufakat search --exact "TODO(ana):"
      mufakat search --files "Fix expiry of session cookies" --chars 2000
    """
    ways = [way for way, on in (("exact", exact), ("files", files), ("rawq", rawq)) if on]
    if len(ways) > 1:
        raise click.UsageError("Give one of --exact, --files and --rawq.")
    way = ways[0] if ways else "words"
    with attach.attached(session) as client:
        project = folder.project(client, path)
        if project:
            _wait(client, project)
        asked: dict[str, str | int] = {"q": query, "project": project, "way": way, **size}
        found = client.get("/search/code", asked)
    if session.json:
        click.echo(output.json_text(found))
    else:
        _tell(session, found, way=way, text=text)
    return 0


def _tell(session: Session, found: Mapping[str, Any], *, way: str, text: bool) -> None:
    if way == "files":
        click.echo(clean(found["listing"]))
    for one in found["items"] if way != "files" else ():
        _print(session, one, text)
    if found["why"]:
        click.echo(output.line(found["why"]), err=True)


def _print(session: Session, one: Mapping[str, Any], text: bool) -> None:
    place = output.paint(
        session, output.line(f"{one['path']}:{one['start']}-{one['end']}"), output.INDIGO
    )
    symbol = output.line(one["symbol"]) or "-"
    why = output.dim(session, output.line(one["why"]))
    click.echo(f"{place}  {symbol}  {one['score']:.2f}  {why}")
    if text:
        click.echo(clean(one["text"]) + "\n")


def _wait(client: Client, project: str) -> None:
    """See the first index through; a later refresh is not waited for."""
    state = client.get(f"/projects/{project}/index")
    if not (state["complete"] or state["error"]):
        index.see_through(client, project)
