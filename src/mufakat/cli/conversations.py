"""`mufakat conversations`: the threads, and what was said in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from mufakat.cli import attach, branch_rows, ids, listing, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Client, Query

PAGE = 100
TALK = frozenset({"person", "agent"})


@click.group("conversations", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List conversations and read them.

    \b
    Examples:
      mufakat conversations
      mufakat conversations show c_01je8q --all
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("list")
@click.option("--project", default="", metavar="ID", help="Only those of this project.")
@listing.paged("conversation", limit=50)
@use
def list_command(session: Session, /, project: str, before: str, limit: int) -> int:
    """List conversations, the newest first; branches stand below what they came from.

    \b
    Example:
      mufakat conversations list --limit 10
    """
    query: Query = {"project": project, "before": before, "limit": limit}
    return listing.show(
        session,
        "/conversations",
        query,
        head=("ID", "UPDATED", "MESSAGES", "TITLE"),
        row=_row,
        right="c",
        command="mufakat conversations list",
        arrange=_as_tree,
    )


def _as_tree(client: Client, items: Sequence[dict[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Conversations of a page with their branches below them."""
    if not items:
        return items
    found = client.get("/branches", {"archived": "1"})["items"]
    return branch_rows.arranged(items, {one["id"]: one for one in found})


def _row(item: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return (
        output.line(item["id"]),
        output.moment(item["updated"]),
        output.number(item["talk"]),
        output.line(item["title"]),
    )


@command.command("show")
@click.argument("id")
@click.option("--all", "everything", is_flag=True, help="Every message, those of tools too.")
@use
def show(session: Session, /, id: str, everything: bool) -> int:
    """Show what was said in a conversation, the oldest message first.

    ID is the conversation's id, its beginning, or `last`. Without --all the newest 60 messages are
    read and those of tools are left out.

    \b
    Example:
      mufakat conversations show c_01je8q
    """
    wanted = ids.checked(id, listed_by="mufakat conversations")
    with attach.attached(session) as client:
        thread = client.get(f"/conversations/{wanted}")
        said = _all(client, thread["id"]) if everything else _newest(client, thread)
    if session.json:
        click.echo(output.json_text({"conversation": thread, "messages": said}))
        return 0
    click.echo(f"{output.line(thread['title'])}  {output.dim(session, thread['id'])}")
    for message in said:
        _print(session, message)
    return 0


def _newest(client: Client, thread: Mapping[str, Any]) -> list[dict[str, Any]]:
    after = max(0, int(thread["messages"]) - 60)
    path = f"/conversations/{thread['id']}/messages"
    found = client.get(path, {"after": after, "limit": 60})["items"]
    return [message for message in found if message["kind"] in TALK]


def _all(client: Client, id: str) -> list[dict[str, Any]]:
    """Every message; pages follow the number of the last one."""
    said: list[dict[str, Any]] = []
    while True:
        after = said[-1]["number"] if said else 0
        path = f"/conversations/{id}/messages"
        page = client.get(path, {"after": after, "limit": PAGE})["items"]
        said += page
        if len(page) < PAGE:
            return said


def _print(session: Session, message: Mapping[str, Any]) -> None:
    speaker = output.paint(session, output.line(message["speaker"]), output.INDIGO)
    kind = "" if message["kind"] in TALK else f"  {message['kind'].replace('_', ' ')}"
    label = f"  {output.line(message['label'])}" if message.get("label") else ""
    at = output.dim(session, output.moment(message["at"]))
    click.echo(f"\n#{message['number']}  {speaker}{kind}{label}  {at}")
    click.echo(clean(message["text"]).rstrip("\n"))


@command.command("link")
@click.argument("id")
@click.argument("other", required=False, default="")
@click.option("--drop", is_flag=True, help="Take the link to OTHER back.")
@use
def link(session: Session, /, id: str, other: str, drop: bool) -> int:
    """Let those of a conversation read another one; without OTHER list its links.

    The other one may be of another project. A link works one way.

    \b
    Examples:
      mufakat conversations link c_01je8q c_01jd2m
      mufakat conversations link c_01je8q
    """
    links = f"/conversations/{ids.checked(id, listed_by='mufakat conversations')}/links"
    with attach.attached(session) as client:
        if other:
            wanted = ids.checked(other, listed_by="mufakat conversations")
            if drop:
                client.delete(f"{links}/{wanted}")
            else:
                client.post(links, {"other": wanted})
        found = client.get(links, {"suggest": "0" if other else "1"})
    if session.json:
        click.echo(output.json_text(found))
        return 0
    rows = [("linked", one["weight"], one["other"]) for one in found["items"]]
    rows += [("alike", one["score"], one["other"]) for one in found["suggestions"]]
    table = [
        (output.line(there["id"]), kind, f"{weight:.2f}", output.line(there["title"]))
        for kind, weight, there in rows
    ]
    if table:
        click.echo(output.table(("ID", "HOW", "WEIGHT", "TITLE"), table))
    else:
        click.echo("There are none.", err=True)
    return 0
