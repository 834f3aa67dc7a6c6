"""`mufakat memory`: what older messages of a conversation came to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, ids, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.base import InvalidInput
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Client

LIST = "mufakat conversations"
ENTRY = re.compile(r"(?:memory:)?(\d{1,9}(?:\.\d{1,9})?)")


@click.group("memory", cls=Group)
def command() -> None:
    """What older messages of a conversation came to: topics with their sources.

    \b
    Examples:
      mufakat memory show last
      mufakat memory show last --search port
    """


@command.command("show")
@click.argument("id")
@click.option("--search", "query", default="", metavar="WORDS", help="Only lines with these words.")
@use
def show(session: Session, /, id: str, query: str) -> int:
    """Show the topics of a conversation, or the lines that have some words.

    \b
    Example:
      mufakat memory show last
    """
    wanted = ids.checked(id, listed_by=LIST)
    with attach.attached(session) as client:
        if query:
            found = client.get(f"/conversations/{wanted}/memory/lines", {"query": query})
        else:
            found = {"items": _all(client, wanted), "next": None}
    if session.json:
        click.echo(output.json_text(found))
    elif not found["items"]:
        click.echo("There is nothing yet: it begins with twelve messages.", err=True)
    elif query:
        for line in found["items"]:
            click.echo(_line(session, line))
    else:
        for topic in found["items"]:
            _topic(session, topic)
    return 0


def _all(client: Client, id: str) -> list[dict[str, Any]]:
    topics: list[dict[str, Any]] = []
    while True:
        after = topics[-1]["number"] if topics else 0
        page = client.get(f"/conversations/{id}/memory", {"after": after, "limit": 100})["items"]
        topics += page
        if len(page) < 100:
            return topics


def _topic(session: Session, topic: Mapping[str, Any]) -> None:
    span = f"m:{topic['first']}–m:{topic['last']}"
    gone = f"  taken back by {output.line(topic['revoked'])}" if topic["revoked"] else ""
    head = output.paint(session, str(topic["number"]), output.TEAL)
    click.echo(f"{head}  {output.line(topic['title'])}  {output.dim(session, span)}{gone}")
    for line in topic["lines"]:
        click.echo(f"  {_line(session, line)}")


def _line(session: Session, line: Mapping[str, Any]) -> str:
    sources = ",".join(f"m:{number}" for number in line["numbers"])
    note = ""
    if line["revoked"]:
        note = f"taken back by {line['revoked']}"
    elif line["superseded_by"]:
        note = f"no longer, see {line['superseded_by']}"
    elif line["supersedes"]:
        note = f"replaces {line['supersedes']}"
    who = output.line(f"{line['speaker']} {sources}")
    said = output.line(clean(line["text"]))
    return f"{line['id']}  {said}  {output.dim(session, f'{who} {output.line(note)}'.strip())}"


@command.command("refresh")
@click.argument("id")
@use
def refresh(session: Session, /, id: str) -> int:
    """Condense now what has become old.

    \b
    Example:
      mufakat memory refresh last
    """
    wanted = ids.checked(id, listed_by=LIST)
    with attach.attached(session) as client:
        found = client.post(f"/conversations/{wanted}/memory", {})
    if session.json:
        click.echo(output.json_text(found))
    elif found["messages"]:
        click.echo(f"{found['messages']} messages came to {found['lines']} lines.")
    else:
        click.echo(f"Nothing yet: {found['waits_for']} more messages are to come first.")
    return 0


@command.command("revoke")
@click.argument("id")
@click.argument("entry")
@use
def revoke(session: Session, /, id: str, entry: str) -> int:
    """Take a topic (7) or a line (7.2) back, with everything that was derived from it.

    \b
    Example:
      mufakat memory revoke last 7.2
    """
    wanted = ids.checked(id, listed_by=LIST)
    named = ENTRY.fullmatch(entry.strip())
    if named is None:
        raise InvalidInput(f"{entry!r} is no entry.", fix=f"See: mufakat memory show {wanted}")
    with attach.attached(session) as client:
        found = client.delete(f"/conversations/{wanted}/memory/entries/{named[1]}")
    if session.json:
        click.echo(output.json_text(found))
    else:
        again = f"; {', '.join(found['restored'])} holds again" if found["restored"] else ""
        click.echo(output.line(f"Taken back: {', '.join(found['entries'])}{again}."))
    return 0
