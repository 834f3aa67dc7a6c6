"""`mufakat index`: bring the index of a project up to date, or make it anew."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from mufakat.cli import attach, folder, output
from mufakat.cli.session import Command, Session, use
from mufakat.sdk import errors
from mufakat.sdk.client import Client

POLL_SECONDS = 0.2
SHOWN = 20
"""Files that are left out and named."""


@click.command(cls=Command)
@click.option("--path", default=".", metavar="DIR", help="The project's folder.")
@click.option("--rebuild", is_flag=True, help="Throw away what there is and read every file.")
@use
def command(session: Session, /, path: str, rebuild: bool) -> int:
    """Bring the index of this project up to date, and say what is in it.

    A search does so by itself; this is for the first time in a large project, or where you do not
    trust the index. Ctrl-C stops it; what has been read is kept.

    \b
    Examples:
      mufakat index
      mufakat index --rebuild
    """
    with attach.attached(session) as client:
        project = folder.project(client, path)
        if not project:
            raise click.UsageError("An agent needs no index of its own: its searches make it.")
        state = see_through(client, project, anew=rebuild)
    if session.json:
        click.echo(output.json_text(state))
    else:
        _print(session, state)
    return 1 if state["error"] else 0


def see_through(client: Client, project: str, *, anew: bool = False) -> dict[str, Any]:
    """Begin a refresh, show on a terminal how far it is, and wait for its end; Ctrl-C stops it."""
    state: dict[str, Any]
    try:
        state = client.post(f"/projects/{project}/index", {"anew": anew})
        while state["running"]:
            _show(f"Indexing {state['done']:,} of {state['of']:,} files" if state["of"] else "")
            time.sleep(POLL_SECONDS)
            state = client.get(f"/projects/{project}/index")
    except KeyboardInterrupt:
        _cancel(client, project)
        raise
    finally:
        _show("")
    return state


def _cancel(client: Client, project: str) -> None:
    try:
        client.post(f"/projects/{project}/index/cancel", {})
    except errors.ServerError as problem:
        # An agent may not: the index is made for others too.
        if problem.code != "not_allowed":
            raise


def _show(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{text:<60}\r{text}", nl=False, err=True)


def _print(session: Session, state: dict[str, Any]) -> None:
    rows = [
        ("files", f"{state['files']:,}"),
        ("read", f"{state['changed']:,} in {state['seconds']:.1f} s"),
        ("commit", state["commit"] or "–"),
        ("left out", f"{len(state['skipped']):,}"),
    ]
    if state["error"]:
        rows.append(("error", state["error"]))
    click.echo(output.pairs(rows))
    for one in state["skipped"][:SHOWN]:
        click.echo(output.dim(session, output.line(f"  {one['path']}: {one['why']}")))
