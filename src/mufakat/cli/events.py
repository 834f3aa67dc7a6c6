"""`mufakat events`: the log of everything that happened, and what happens now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Command, Session, use
from mufakat.sdk import events
from mufakat.sdk.client import Client

PAGE = 200
TRIES = 14
"""Connections in a row that bring nothing, before it gives up: about 20 seconds."""


@click.command(cls=Command)
@click.option("-f", "--follow", is_flag=True, help="Go on with what happens from now on.")
@click.option("--after", default="", metavar="ID", help="Only what came behind this event.")
@click.option("--subject", default="", metavar="ID", help="Only events of this turn or thread.")
@click.option("--kinds", default="", metavar="LIST", help="Only these kinds, split by commas.")
@use
def command(session: Session, /, follow: bool, after: str, subject: str, kinds: str) -> int:
    """Print the event log, or follow it.

    Without options the whole log is printed, one event a line. With -f and without --after only
    what happens from now on is printed; the connection is taken up again where it breaks.

    \b
    Examples:
      mufakat events -f
      mufakat events --kinds turn.ended --json
    """
    with attach.attached(session) as client:
        query = {"subject": subject, "kinds": kinds}
        shown = _now(client, after, query) if follow else _page_by_page(client, after, query)
        for event in shown:
            click.echo(_line(session, event))
    return 0


def _now(client: Client, after: str, query: Mapping[str, str]) -> Iterator[events.Event]:
    start = after or str(client.get("/events", {"limit": 1})["head"])
    kinds = [kind for kind in query["kinds"].split(",") if kind]
    return events.follow(client, after=start, subject=query["subject"], kinds=kinds, tries=TRIES)


def _page_by_page(client: Client, after: str, query: Mapping[str, str]) -> Iterator[events.Event]:
    while True:
        page = client.get("/events", {**query, "after": after, "limit": PAGE})
        for row in page["events"]:
            yield events.from_json(row)
        if page["next"] in (after, "") or page["next"] == page["head"]:
            return
        after = page["next"]


def _line(session: Session, event: events.Event) -> str:
    if session.json:
        row: dict[str, Any] = {
            "id": event.id,
            "at": event.at,
            "kind": event.kind,
            "subject": event.subject,
            "data": dict(event.data),
        }
        return output.json_line(row)
    words = " ".join(
        f"{name}={output.line(value)}"
        for name, value in event.data.items()
        if value not in (None, "", [], {}) and name != "conversation"
    )
    head = f"{output.moment(event.at, '%H:%M:%S')}  {output.line(event.kind):<18}"
    return output.fit(f"{head}  {output.line(event.subject)}  {words}", output.columns())
