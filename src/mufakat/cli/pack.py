"""`mufakat pack`: what an agent was told, or would be told, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, ids, listing, output, receipt, request
from mufakat.cli.session import Group, Session, use
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Query

PREVIEW_ONLY = frozenset({"texts", "system", "user"})


@click.group("pack", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """See what an agent was told, or would be told.

    Every request has a pack: the text that the agent got beside the prompt. Its receipt says what
    was told, what was left out, and why.

    \b
    Examples:
      mufakat pack show
      mufakat pack preview "Review the parser" --mode full
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return 0


@command.command("show")
@click.argument("id", default="last")
@click.option("--text", is_flag=True, help="The texts of the sections, as the agent got them.")
@use
def show(session: Session, /, id: str, text: bool) -> int:
    """Show the receipt of a pack.

    ID is the pack's id or its beginning; `last`, or nothing, is the newest pack.

    \b
    Examples:
      mufakat pack show
      mufakat pack show k_01je8q --text
      mufakat pack show last --json
    """
    with attach.attached(session) as client:
        path = f"/packs/{_id(id)}"
        stored = client.get(path)
        texts = client.get(f"{path}/texts") if text else None
    if session.json:
        click.echo(output.json_text(stored if texts is None else stored | texts_of(texts)))
        return 0
    click.echo(receipt.render(session, stored))
    if texts is not None:
        _print_texts(session, texts["sections"])
    return 0


def texts_of(texts: dict[str, Any]) -> dict[str, Any]:
    """The texts beside a receipt, whose own `sections` they must not hide."""
    return {"texts": texts["sections"], "system": texts["system"], "user": texts["user"]}


@command.command("list")
@click.option("-c", "--conversation", default="", metavar="ID", help="Only this conversation's.")
@listing.paged("pack", limit=20)
@use
def list_command(session: Session, /, conversation: str, before: str, limit: int) -> int:
    """List packs, the newest first.

    \b
    Example:
      mufakat pack list --limit 5
    """
    query: Query = {"conversation": conversation, "before": before, "limit": limit}
    return listing.show(
        session,
        "/packs",
        query,
        head=("ID", "CREATED", "MODE", "USED", "BUDGET", "AGENT"),
        row=_row,
        right="de",
        command="mufakat pack list",
    )


def _row(item: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        output.line(item["id"]),
        output.moment(item["created"]),
        output.line(item["mode"]),
        output.number(item["used"]),
        output.number(item["budget"]),
        output.line(item["identity"]),
    )


@command.command("preview")
@request.options
@click.option("--text", is_flag=True, help="The texts of the sections too.")
@use
def preview(session: Session, /, text: bool, **given: Any) -> int:
    """Show what an agent would be told, without asking it.

    It takes the same options as `mufakat ask`.

    \b
    Example:
      mufakat pack preview "Review the parser" -a claude --budget 20000
    """
    body = request.build(given)
    with attach.attached(session) as client:
        found = client.post("/packs/preview", body)
    if session.json:
        kept = found if text else {k: v for k, v in found.items() if k not in PREVIEW_ONLY}
        click.echo(output.json_text(kept))
        return 0
    click.echo(receipt.render(session, found))
    if text:
        _print_texts(session, found["texts"])
    return 0


@command.command("diff")
@click.argument("a")
@click.argument("b")
@use
def diff(session: Session, /, a: str, b: str) -> int:
    """Show how two packs differ.

    A and B are ids, their beginnings, or `last`.

    \b
    Example:
      mufakat pack diff k_01je8q last
    """
    with attach.attached(session) as client:
        found = client.get(f"/packs/{_id(a)}/diff/{_id(b)}")
    if session.json:
        click.echo(output.json_text(found))
        return 0
    same, changed = len(found["same"]), len(found["changed"])
    only_a, only_b = len(found["only_a"]), len(found["only_b"])
    click.echo(f"{same} the same, {changed} changed, {only_a} only in A, {only_b} only in B")
    parity = "the same items" if found["parity_equal"] else "different items"
    click.echo(f"Both tell {parity}.\n" if found["parity_equal"] else f"They tell {parity}.\n")
    for row in clean(found["text"]).split("\n"):
        click.echo(_diff_line(session, row))
    return 0


def _diff_line(session: Session, row: str) -> str:
    if row.startswith("+"):
        return output.paint(session, row, output.TEAL)
    if row.startswith("-"):
        return output.paint(session, row, output.AMBER)
    return row


def _id(text: str) -> str:
    """An id as a part of a path; the server knows beginnings of ids, and `last`."""
    return ids.checked(text, listed_by="mufakat pack list")


def _print_texts(session: Session, texts: list[dict[str, Any]]) -> None:
    for row in texts:
        size = output.dim(session, f"{len(row['text']):,} characters")
        click.echo(f"\n── {output.line(row['kind'])}  {size}")
        click.echo(clean(row["text"]).rstrip("\n"))
