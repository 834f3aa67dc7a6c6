"""`mufakat rt`: a roundtable of several agents on one question, begun, followed, steered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, exit_codes, ids, listing, output, request, table_rows
from mufakat.cli.session import Group, Session, use
from mufakat.core.base import InvalidInput
from mufakat.core.deliberation import caps as capping
from mufakat.core.deliberation import roundtable, seat
from mufakat.sdk.client import Client, Query, new_key

Table = dict[str, Any]
VERBS = frozenset({"ask", "show", "list", "pause", "resume", "say", "drop", "more", "stop"})


class Tables(Group):
    """A group whose first word may also be the question itself."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS:
            return "ask", self.commands["ask"], args
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Options of the question may stand before it.
        plain = args and args[0].startswith("-") and args[0] not in {"--help", "-h"}
        return super().parse_args(ctx, ["ask", *args] if plain else args)


@click.group("rt", cls=Tables)
def command() -> None:
    """Put one question to several agents, in rounds, and see what they come to.

    `mufakat rt QUESTION -a ENGINE -a ENGINE` begins a table and follows it; its options are in
    `mufakat rt ask --help`. The other commands look at tables and steer them.

    \b
    Examples:
      mufakat rt "SQLite or PostgreSQL?" -a claude -a codex -a gemini --rounds 2
      mufakat rt "Rewrite it?" -a claude=for -a codex=against --preflight
      mufakat rt show last
    """


@command.command("ask")
@click.argument("question", required=False)
@click.option(
    "-a",
    "--agent",
    "agents",
    multiple=True,
    metavar="SEAT",
    help="ENGINE, ENGINE:MODEL, ENGINE=STANCE or ENGINE:MODEL=STANCE; one for each seat.",
)
@click.option("--rounds", type=int, default=2, metavar="N", help="Rounds; 2 by default.")
@click.option("--sequential", is_flag=True, help="One after another, not all at once.")
@click.option("--open-first", is_flag=True, help="The first round is not blind.")
@click.option("--named", is_flag=True, help="Tell peers by identity, not by letter.")
@click.option("--role", default="", metavar="NAME", help="Role of all seats.")
@click.option("--budget", type=int, default=None, metavar="N", help="Characters of a seat's pack.")
@click.option("--max-chars", type=int, default=None, metavar="N", help="Cap on characters sent.")
@click.option("--max-tokens", type=int, default=None, metavar="N", help="Cap on tokens.")
@click.option("--max-cost", type=float, default=None, metavar="USD", help="Cap on cost.")
@click.option("--max-seconds", type=float, default=None, metavar="S", help="Cap on time.")
@click.option("-c", "--conversation", default="", metavar="ID", help="In this conversation.")
@click.option("--project", default="", metavar="DIR", help="Folder of the project.")
@click.option("--preflight", is_flag=True, help="Only say what it would take.")
@click.option("--no-wait", is_flag=True, help="Return at once; the table goes on.")
@use
def start(session: Session, /, preflight: bool, no_wait: bool, **given: Any) -> int:
    """Begin a roundtable and follow it to its end.

    With `-`, or with no QUESTION and a pipe, it is read from stdin. Progress goes to stderr, the
    outcome to stdout. Ctrl-C leaves the table running or stops it: on a terminal you are asked.

    \b
    Example:
      mufakat rt "SQLite or PostgreSQL?" -a claude -a codex --rounds 2 --preflight
    """
    body = _body(given)
    with attach.attached(session) as client:
        if preflight:
            found = client.post("/roundtables/preflight", body)
            click.echo(output.json_text(found) if session.json else table_rows.preflight(found))
            return exit_codes.OK
        after = table_rows.cursor(client)
        table: Table = client.post("/roundtables", body, key=new_key())
        if no_wait:
            click.echo(output.json_text(table) if session.json else table["id"])
            return exit_codes.OK
        return _follow(session, client, table, after)


@command.command("show")
@click.argument("table")
@use
def show(session: Session, /, table: str) -> int:
    """Show a table: what was said, what it came to, what it took.

    TABLE is its id, the beginning of one, or `last`, here and in the other commands.

    \b
    Example:
      mufakat rt show last
    """
    with attach.attached(session) as client:
        _tell(session, client.get(_path(table)))
    return exit_codes.OK


@command.command("list")
@click.option("-c", "--conversation", default="", metavar="ID", help="Only this conversation's.")
@listing.paged("table", limit=50)
@use
def list_command(session: Session, /, conversation: str, before: str, limit: int) -> int:
    """List tables, the newest first.

    \b
    Example:
      mufakat rt list
    """
    query: Query = {"conversation": conversation, "before": before, "limit": limit}
    return listing.show(
        session,
        "/roundtables",
        query,
        head=("ID", "CREATED", "STATUS", "ROUND", "SEATS"),
        row=_row,
        command="mufakat rt list",
    )


@command.command("pause")
@click.argument("table")
@use
def pause(session: Session, /, table: str) -> int:
    """Let running turns end and ask nobody more.

    \b
    Example:
      mufakat rt pause last
    """
    return _act(session, table, "/pause", {})


@command.command("resume")
@click.argument("table")
@click.option("--no-wait", is_flag=True, help="Return at once; the table goes on.")
@use
def resume(session: Session, /, table: str, no_wait: bool) -> int:
    """Go on after a pause, and follow it.

    \b
    Example:
      mufakat rt resume last
    """
    return _act(session, table, "/resume", None, follow=not no_wait)


@command.command("say")
@click.argument("table")
@click.argument("text")
@use
def say(session: Session, /, table: str, text: str) -> int:
    """Say something to the table; every seat hears it with its next turn.

    \b
    Example:
      mufakat rt say last "Ten thousand users, not ten."
    """
    return _act(session, table, "/remarks", {"text": text})


@command.command("drop")
@click.argument("table")
@click.argument("letter")
@click.option("--why", default="", metavar="TEXT", help="The reason, which is kept.")
@use
def drop(session: Session, /, table: str, letter: str, why: str) -> int:
    """Take a seat off the table, and end the turn it is in.

    \b
    Example:
      mufakat rt drop last C --why "It loops."
    """
    return _act(session, table, "/drop", {"seat": letter} | ({"why": why} if why else {}))


@command.command("more")
@click.argument("table")
@click.option("--rounds", type=int, default=1, metavar="N", help="So many; 1 by default.")
@click.option("--max-chars", type=int, default=None, metavar="N", help="A new cap on characters.")
@click.option("--no-wait", is_flag=True, help="Return at once; the table goes on.")
@use
def more(session: Session, /, table: str, rounds: int, max_chars: int | None, no_wait: bool) -> int:
    """Add rounds, and follow them; a table that has ended goes on.

    \b
    Example:
      mufakat rt more last --rounds 1
    """
    body: dict[str, Any] = {"rounds": rounds}
    if max_chars is not None:
        body["caps"] = {"chars": max_chars or None}
    return _act(session, table, "/rounds", body, follow=not no_wait)


@command.command("stop")
@click.argument("table")
@use
def stop(session: Session, /, table: str) -> int:
    """End it with what was said so far; turns that run are cancelled.

    \b
    Example:
      mufakat rt stop last
    """
    return _act(session, table, "/stop", None)


def _body(given: Mapping[str, Any]) -> dict[str, Any]:
    """The request, refusing what can never work before anything is sent."""
    wanted = [seat.parse(one) for one in given["agents"]]
    seat.check(wanted)
    roundtable.check_rounds(given["rounds"])
    chosen = {name: given[name] for name in ("role", "budget", "conversation") if given[name]}
    return {
        "question": request.prompt_of(given["question"]),
        "project": request.folder_of(given["project"]),
        "seats": [
            {"engine": one.engine, "model": one.model, "stance": one.stance} for one in wanted
        ],
        "rounds": given["rounds"],
        "order": "sequential" if given["sequential"] else "deliberative",
        "blind": not given["open_first"],
        "anonymous": not given["named"],
        "caps": _caps(given),
        **chosen,
    }


def _caps(given: Mapping[str, Any]) -> dict[str, Any]:
    asked = {name: given[f"max_{name}"] for name in ("chars", "tokens", "cost", "seconds")}
    chosen = {name: value for name, value in asked.items() if value is not None}
    capping.check(capping.Caps(**chosen))
    return chosen


def _follow(session: Session, client: Client, table: Table, after: str) -> int:
    """Follow a table to its end; Ctrl-C asks whether it is to be stopped."""
    try:
        table = table_rows.to_end(session, client, table, after)
    except KeyboardInterrupt:
        if session.json_errors or not _asked_to_stop(table["id"]):
            click.echo(f"It goes on. Look at it: mufakat rt show {table['id']}", err=True)
            return exit_codes.INTERRUPTED
        table = client.post(f"/roundtables/{table['id']}/stop")
    _tell(session, table)
    return table_rows.exit_code(table)


def _asked_to_stop(id: str) -> bool:
    try:
        return click.confirm(f"\nStop the roundtable {id}?", default=True, err=True)
    except click.Abort:
        return True


def _act(
    session: Session,
    table: str,
    what: str,
    body: dict[str, Any] | None,
    *,
    follow: bool = False,
) -> int:
    with attach.attached(session) as client:
        after = table_rows.cursor(client)
        found: Table = client.post(_path(table) + what, body)
        if follow:
            return _follow(session, client, found, after)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(f"{found['id']}  {found['status']}")
    return exit_codes.OK


def _tell(session: Session, table: Table) -> None:
    click.echo(output.json_text(table) if session.json else table_rows.whole(table))


def _path(table: str) -> str:
    if not table:
        raise InvalidInput("Name a roundtable.", fix="List them: mufakat rt list")
    return f"/roundtables/{ids.checked(table, listed_by='mufakat rt list')}"


def _row(item: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        output.line(item["id"]),
        output.moment(item["created"]),
        output.line(item["status"]),
        f"{item['round']}/{item['rounds']}",
        output.line(", ".join(one["engine"] for one in item["seats"])),
    )
