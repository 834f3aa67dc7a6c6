"""`mufakat audit`: the event log as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from mufakat.cli import attach, exit_codes, output
from mufakat.cli.session import Group, Session, use
from mufakat.core.base import InvalidInput
from mufakat.core.coordination import evidence
from mufakat.sdk.client import Client

PAGE = 1_000
SECONDS = 3600.0


@click.group(cls=Group)
def command() -> None:
    """Check that the event log is whole, export it, see what was so before.

    \b
    Examples:
      mufakat audit verify
      mufakat audit export > log.jsonl
      mufakat audit replay --at 100
    """


@command.command()
@click.option("--expect", default="", metavar="ANCHOR", help="An anchor that you have kept.")
@use
def verify(session: Session, /, expect: str) -> int:
    """Follow the chain over the whole log; exit code 1 where it is broken.

    It prints the anchor of the log as it stands: keep it elsewhere, and give it back with
    --expect. Without that, whoever can write to the database could have rewritten all of it.

    \b
    Example:
      mufakat audit verify --json
    """
    with attach.attached(session) as client:
        found = client.post("/audit/verify", _anchor(expect), seconds=SECONDS)
    if session.json:
        click.echo(output.json_line(found))
    else:
        for problem in found["problems"]:
            click.echo(f"problem: {output.line(problem)}")
        if not found["problems"]:
            click.echo(f"{found['events']:,} events, none of them changed.")
        click.echo(f"anchor: {found['revision']}:{found['chain']}")
    return exit_codes.FAILED if found["problems"] else exit_codes.OK


@command.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    default="jsonl",
    help="What to write.",
)
@click.option("--after", default=0, metavar="REV", help="Only what came behind this revision.")
@click.option("--kinds", default="", metavar="LIST", help="Only these kinds, split by commas.")
@use
def export(session: Session, /, form: str, after: int, kinds: str) -> int:
    """Write the log to stdout, with the seal and the link of every event.

    A reader can check JSON lines without Mufakat; docs/audit.md says how.

    \b
    Examples:
      mufakat audit export > log.jsonl
      mufakat audit export --format markdown --kinds lease.granted,lease.lost
    """
    with attach.attached(session) as client:
        if form == "markdown":
            click.echo(evidence.HEADING, nl=False)
        for row in _rows(client, after, kinds):
            click.echo(evidence.row(row) if form == "markdown" else output.json_line(row))
    return exit_codes.OK


@command.command()
@click.option("--at", default=-1, metavar="REV", help="The revision; without it, now.")
@use
def replay(session: Session, /, at: int) -> int:
    """Show agents, leases and inboxes as they were at a revision.

    \b
    Example:
      mufakat audit replay --at 100
    """
    with attach.attached(session) as client:
        found = client.get("/audit/replay", {"at": at}, seconds=SECONDS)
    click.echo(output.json_line(found) if session.json else _picture(found))
    return exit_codes.OK


def _rows(client: Client, after: int, kinds: str) -> Iterator[Mapping[str, Any]]:
    while True:
        page = client.get("/audit/events", {"after": after, "kinds": kinds, "limit": PAGE})
        yield from page["items"]
        if page["next"] >= page["head"] or page["next"] == after:
            return
        after = page["next"]


def _anchor(text: str) -> dict[str, Any]:
    revision, colon, chain = text.partition(":")
    if text and not (colon and revision.isdecimal() and len(chain) == 64):
        raise InvalidInput(
            f"{text[:80]!r} is no anchor.", fix="Give what `mufakat audit verify` printed."
        )
    return {"revision": int(revision), "chain": chain} if text else {}


def _picture(found: Mapping[str, Any]) -> str:
    lines = [f"revision {found['revision']}"]
    for name, one in found["agents"].items():
        on = f" on {one['on']}" if one["on"] else ""
        label = one["alias"] or one["role"]
        lines.append(output.line(f"{name}  {one['state']}{on}  {label}".rstrip()))
    for id, one in found["leases"].items():
        held = ", ".join(one["resources"])
        lines.append(output.line(f"{id}  {one['mode']}  {one['holder']}  {held}"))
    for name, letters in found["inboxes"].items():
        told = " ".join(f"{number}:{one['status']}" for number, one in letters.items())
        lines.append(output.line(f"{name}  {told}"))
    return "\n".join(lines)
