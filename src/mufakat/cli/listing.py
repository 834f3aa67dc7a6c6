"""Lists, a page at a time: the options and the printing that every list command shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Session
from mufakat.sdk.client import Client, Query

F = TypeVar("F", bound=Callable[..., Any])
Row = Callable[[Mapping[str, Any]], Sequence[str]]
Arrange = Callable[[Client, Sequence[dict[str, Any]]], Sequence[Mapping[str, Any]]]


def paged(thing: str, *, limit: int) -> Callable[[F], F]:
    """The options `--before` and `--limit` of a list of things."""

    def decorate(command: F) -> F:
        before = click.option(
            "--before", default="", metavar="ID", help=f"Go on behind this {thing}."
        )
        size = click.option(
            "--limit",
            type=click.IntRange(1, 200),
            default=limit,
            metavar="N",
            help="At most so many.",
        )
        return before(size(command))

    return decorate


def show(
    session: Session,
    path: str,
    query: Query,
    *,
    head: Sequence[str],
    row: Row,
    right: str = "",
    command: str,
    arrange: Arrange | None = None,
) -> int:
    """Print a page as a table, say when it is empty and how to go on behind it.

    `right` names the columns to set flush right, `command` is what lists the next page; `arrange`
    puts the items of a table into another order.
    """
    with attach.attached(session) as client:
        found = client.get(path, query)
        items = arrange(client, found["items"]) if arrange and not session.json else found["items"]
    if session.json:
        click.echo(output.json_text(found))
        return 0
    rows = [tuple(row(item)) for item in items]
    if not rows:
        click.echo('There is nothing yet. Ask something: mufakat ask "…"', err=True)
        return 0
    click.echo(output.table(tuple(head), rows, right=right))
    if found.get("next"):
        onward = {**query, "before": str(found["next"])}
        options = " ".join(f"--{name} {value}" for name, value in onward.items() if value != "")
        click.echo(f"More: {command} {options}", err=True)
    return 0


def left_out(skipped: Sequence[Mapping[str, Any]]) -> None:
    """Say what could not be listed, and why."""
    for one in skipped:
        click.echo(f"left out: {output.line(one['path'])}: {output.line(one['why'])}", err=True)
