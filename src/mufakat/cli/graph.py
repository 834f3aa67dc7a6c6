"""`mufakat graph`: who uses a symbol, and what a change may touch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import click

from mufakat.cli import attach, output, resources
from mufakat.cli.session import Group, Session, use

LIMIT = click.option(
    "--limit", type=click.IntRange(1, 100), default=20, metavar="N", help="At most so many."
)


@click.group("graph", cls=Group)
def command() -> None:
    """Who uses a symbol of this project, and what a change may touch.

    \b
    Examples:
      mufakat graph callers Store.write
      mufakat graph blast src/app.py
    """


def _relation(name: str, help_line: str) -> None:
    """Add the command of one relation."""

    @command.command(name, help=f"{help_line}\n\n\b\nExample:\n  mufakat graph {name} Store.write")
    @click.argument("symbol")
    @LIMIT
    @use
    def ask(session: Session, /, symbol: str, limit: int) -> int:
        asked: list[tuple[str, str | int]] = [("symbol", symbol), ("limit", limit)]
        return _show(session, f"/graph/{name}", asked, _place)


_relation("definition", "Show where a symbol is defined.")
_relation("callers", "Show what uses a symbol.")
_relation("callees", "Show the definitions of what a symbol uses.")
_relation("importers", "Show which files import a file, or the file that defines a symbol.")
_relation("tests", "Show the tests of a symbol or of a file.")


@command.command("blast")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@LIMIT
@use
def blast(session: Session, /, paths: tuple[str, ...], limit: int) -> int:
    """Show which files a change of these may touch, most likely first.

    \b
    Example:
      mufakat graph blast src/app.py src/store.py --limit 5
    """
    asked: list[tuple[str, str | int]] = [*(("path", path) for path in paths), ("limit", limit)]
    return _show(session, "/graph/blast", asked, _reach)


def _show(
    session: Session,
    path: str,
    asked: Sequence[tuple[str, str | int]],
    row: Callable[[Mapping[str, Any]], tuple[str, ...]],
) -> int:
    with attach.attached(session) as client:
        project = resources.register(client)
        wanted = [*asked, ("project", project)] if project else asked
        found = client.get(f"{path}?{urlencode(wanted)}")
    if session.json:
        click.echo(output.json_text(found))
        return 0
    if not found["items"]:
        click.echo("There is nothing.", err=True)
        return 0
    head = ("FILE", "SCORE", "WHY") if path.endswith("/blast") else ("PLACE", "SYMBOL", "TEXT")
    click.echo(output.table(head, [row(one) for one in found["items"]]))
    return 0


def _place(one: Mapping[str, Any]) -> tuple[str, ...]:
    place = f"{output.line(one['path'])}:{one['line']}"
    return place, output.line(one["symbol"]), output.line(one["text"])


def _reach(one: Mapping[str, Any]) -> tuple[str, ...]:
    return output.line(one["path"]), f"{one['score']:.2f}", output.line(one["why"])
