"""`mufakat branch`: go another way from a message, and bring back what it came to."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, branch_rows, ids, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.base import InvalidInput
from mufakat.sdk.client import Query

LIST = "mufakat branch list"
TALKS = "mufakat conversations"


@click.group("branch", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Branches: a conversation that goes another way from one of its messages.

    \b
    Examples:
      mufakat branch new last --at m:12 --title "Try it with a queue"
      mufakat branch
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("new")
@click.argument("conversation", default="last")
@click.option("--at", default="", metavar="MESSAGE", help="m:NUMBER or an id; else the newest.")
@click.option("--title", default="", metavar="TEXT", help="A name for it.")
@use
def new(session: Session, /, conversation: str, at: str, title: str) -> int:
    """Branch CONVERSATION from one of its messages and print the id of the branch.

    Ask in it as in any conversation. Its agents know what was said up to that message; the
    conversation it came from knows nothing of the branch until it adopts it.

    \b
    Example:
      mufakat branch new c_01je8q --at m:12 --title "Try it with a queue"
    """
    wanted = ids.checked(conversation, listed_by=TALKS)
    if at:
        ids.checked(at.removeprefix("m:"), listed_by=f"mufakat conversations show {wanted}")
    body = {"message": at, "title": title}
    with attach.attached(session) as client:
        made = client.post(f"/conversations/{wanted}/branches", body)
    if session.json:
        click.echo(output.json_text(made))
        return 0
    click.echo(output.line(made["id"]))
    click.echo(f'Ask in it: mufakat ask -c {output.line(made["id"])} "…"', err=True)
    return 0


@command.command("list")
@click.argument("conversation", default="")
@click.option("--all", "everything", is_flag=True, help="Archived ones too.")
@use
def list_command(session: Session, /, conversation: str = "", everything: bool = False) -> int:
    """List branches as a tree: those below CONVERSATION, else all.

    \b
    Example:
      mufakat branch list last
    """
    query: Query = {"archived": "1" if everything else "0"}
    if conversation:
        query = {**query, "conversation": ids.checked(conversation, listed_by=TALKS)}
    with attach.attached(session) as client:
        found = client.get("/branches", query)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    if not found["items"]:
        click.echo("There are none. Begin one: mufakat branch new last", err=True)
        return 0
    head = ("ID", "STATUS", "MESSAGES", "FROM", "TITLE")
    click.echo(output.table(head, [_row(one) for one in found["items"]], right="c"))
    return 0


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    thread = one["conversation"]
    return (
        output.line(one["id"]),
        output.line(one["status"]),
        output.number(thread["talk"]),
        output.line(f"{one['parent']}/m:{one['number']}"),
        branch_rows.indented(output.line(thread["title"]), one["depth"]),
    )


@command.command("adopt")
@click.argument("id")
@click.option("--text", default="", metavar="TEXT", help="Your own words; - reads them from stdin.")
@use
def adopt(session: Session, /, id: str, text: str) -> int:
    """Tell the conversation that a branch came from what it came to.

    Without --text that is its decisions and every agent's last words, by rule, with their
    messages. Nothing else comes back, and the branch takes no more requests.

    \b
    Example:
      mufakat branch adopt c_01jf2k --text "The queue works; see src/queue.py."
    """
    words = sys.stdin.read() if text == "-" else text
    if text and not words.strip():
        raise InvalidInput("The text is empty.", fix="Leave --text out, or say something.")
    wanted = ids.checked(id, listed_by=LIST)
    with attach.attached(session) as client:
        done = client.post(f"/branches/{wanted}/adopt", {"text": words})
    told = f"Adopted: it stands in {done['parent']} as m:{done['summary_number']}."
    return _done(session, done, told)


@command.command("archive")
@click.argument("id")
@use
def archive(session: Session, /, id: str) -> int:
    """Put a branch away: lists leave it out, nothing of it is lost.

    \b
    Example:
      mufakat branch archive c_01jf2k
    """
    wanted = ids.checked(id, listed_by=LIST)
    with attach.attached(session) as client:
        done = client.post(f"/branches/{wanted}/archive", {})
    return _done(session, done, "Archived. See it again: mufakat branch list --all")


@command.command("delete")
@click.argument("id")
@use
def delete(session: Session, /, id: str) -> int:
    """Take a branch out of lists, packs, recall and search; there is no way back.

    What was said in it stays in the database, for the log and for backups.

    \b
    Example:
      mufakat branch delete c_01jf2k
    """
    wanted = ids.checked(id, listed_by=LIST)
    with attach.attached(session) as client:
        done = client.delete(f"/branches/{wanted}", again=False)
    return _done(session, done, "Deleted.")


@command.command("rename")
@click.argument("id")
@click.argument("title")
@use
def rename(session: Session, /, id: str, title: str) -> int:
    """Give a branch another title.

    \b
    Example:
      mufakat branch rename c_01jf2k "The queue, second try"
    """
    wanted = ids.checked(id, listed_by=LIST)
    with attach.attached(session) as client:
        done = client.put(f"/branches/{wanted}/title", {"title": title})
    return _done(session, done, f"Renamed to “{done['conversation']['title']}”.")


def _done(session: Session, branch: Mapping[str, Any], told: str) -> int:
    click.echo(output.json_text(branch) if session.json else output.line(told))
    return 0
