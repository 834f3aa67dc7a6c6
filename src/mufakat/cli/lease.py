"""`mufakat lease`: claims resources, gives them back, shows who has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mufakat.cli import attach, duration, ids, output
from mufakat.cli import resources as paths
from mufakat.cli.session import Group, Session, use
from mufakat.sdk import events
from mufakat.sdk.client import Client

TIME = duration.Duration()


@click.group("lease", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Leases: exclusive use of a file, repository, task, port … for a time.

    \b
    Examples:
      mufakat lease acquire "file:src/**" --ttl 15m --reason "refactoring"
      mufakat lease list
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("acquire")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option("--shared", is_flag=True, help="Several may hold it; nobody exclusively.")
@click.option("--slots", default=1, type=click.IntRange(1, 1024), help="How many may hold it.")
@click.option("--ttl", default="15m", type=TIME, help="How long it lasts unless it is renewed.")
@click.option("--wait", default="0", type=TIME, help="How long to wait in the queue for it.")
@click.option("--reason", default="", metavar="TEXT", help="Others see it.")
@click.option("--next-step", default="", metavar="TEXT", help="Handed to whoever gets it next.")
@click.option(
    "--deputy", default="", metavar="AGENT", help="Gets it first when its holder is gone."
)
@use
def acquire(session: Session, /, resources: tuple[str, ...], shared: bool, **options: Any) -> int:
    """Claim resources: all of them or none. Exit code 4 where somebody else has one.

    \b
    Example:
      mufakat lease acquire task:nightly-report --ttl 1h --wait 5m
    """
    wait = options["wait"]
    body = {
        "resources": paths.absolute(resources),
        "mode": "shared" if shared else "exclusive",
        "slots": options["slots"],
        "ttl": options["ttl"],
        "wait": wait,
        "reason": options["reason"],
        "next_step": options["next_step"],
        "deputy": options["deputy"],
    }
    with attach.attached(session) as client:
        paths.register(client)
        found = client.post("/leases", body, seconds=wait + 30)
    _print_one(session, found)
    return 0


@command.command("release")
@click.argument("id")
@click.option("--fence", default="", metavar="N", help="Looked up where it is left out.")
@use
def release(session: Session, /, id: str, fence: str) -> int:
    """Give a lease back; harmless where it is gone already.

    \b
    Example:
      mufakat lease release l_01jf3k
    """
    with attach.attached(session) as client:
        wanted = ids.checked(id, listed_by="mufakat lease list")
        body = {"fence": fence or _fence(client, wanted)}
        found = client.post(f"/leases/{wanted}/release", body)
    click.echo(output.json_line(found) if session.json else found["answer"])
    return 0


@command.command("renew")
@click.argument("id")
@click.option("--ttl", default="15m", type=TIME, help="How long it lasts from now on.")
@click.option("--fence", default="", metavar="N", help="Looked up where it is left out.")
@use
def renew(session: Session, /, id: str, ttl: float, fence: str) -> int:
    """Keep a lease for longer. Exit code 3 where it is lost.

    \b
    Example:
      mufakat lease renew l_01jf3k --ttl 30m
    """
    with attach.attached(session) as client:
        wanted = ids.checked(id, listed_by="mufakat lease list")
        body = {"fence": fence or _fence(client, wanted), "ttl": ttl}
        found = client.post(f"/leases/{wanted}/renew", body)
    _print_one(session, found)
    return 0


@command.command("transfer")
@click.argument("id")
@click.argument("to", metavar="AGENT")
@click.option("--fence", default="", metavar="N", help="Looked up where it is left out.")
@use
def transfer(session: Session, /, id: str, to: str, fence: str) -> int:
    """Hand a lease over to another agent, under a new fence.

    \b
    Example:
      mufakat lease transfer l_01jf3k codex@greenmac
    """
    with attach.attached(session) as client:
        wanted = ids.checked(id, listed_by="mufakat lease list")
        body = {"fence": fence or _fence(client, wanted), "to": to}
        found = client.post(f"/leases/{wanted}/transfer", body)
    _print_one(session, found)
    return 0


@command.command("defer")
@click.argument("id")
@click.option("--fence", default="", metavar="N", help="Looked up where it is left out.")
@use
def defer(session: Session, /, id: str, fence: str) -> int:
    """Put off, once, that a lease passes to somebody of a higher class.

    The time when it does moves by the policy's grace period. Exit code 4 the second time.

    \b
    Example:
      mufakat lease defer l_01jf3k
    """
    with attach.attached(session) as client:
        wanted = ids.checked(id, listed_by="mufakat lease list")
        body = {"fence": fence or _fence(client, wanted)}
        found = client.post(f"/leases/{wanted}/defer", body)
    _print_one(session, found)
    return 0


@command.command("steal")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option("--reason", required=True, metavar="TEXT", help="Stands in the audit log.")
@click.option("--ttl", default="15m", type=TIME, help="How long it lasts.")
@use
def steal(session: Session, /, resources: tuple[str, ...], reason: str, ttl: float) -> int:
    """Take resources from whoever has them; for people alone, and on the record.

    \b
    Example:
      mufakat lease steal repo:. --reason "release in ten minutes"
    """
    body = {"resources": paths.absolute(resources), "reason": reason, "ttl": ttl}
    with attach.attached(session) as client:
        paths.register(client)
        found = client.post("/leases/steal", body)
    _print_one(session, found)
    return 0


@command.command("check")
@click.argument("resource")
@click.argument("fence")
@use
def check(session: Session, /, resource: str, fence: str) -> int:
    """Ask whether a fence still holds; exit code 4 where it does not.

    \b
    Example:
      mufakat lease check repo:/srv/app 1099511627777
    """
    with attach.attached(session) as client:
        (key,) = paths.absolute([resource])
        found = client.post("/leases/check", {"resource": key, "fence": fence})
    click.echo(
        output.json_line(found) if session.json else ("valid" if found["valid"] else "stale")
    )
    return 0 if found["valid"] else 4


@command.command("list")
@click.option("--holder", default="", metavar="AGENT", help="Only those of this agent.")
@click.option("--resource", default="", metavar="RESOURCE", help="Only those that touch it.")
@use
def list_command(session: Session, /, holder: str, resource: str) -> int:
    """List the leases that are held.

    \b
    Example:
      mufakat lease list --resource file:src/app.py
    """
    with attach.attached(session) as client:
        (key,) = paths.absolute([resource])
        found = client.get("/leases", {"holder": holder, "resource": key})
    if session.json:
        click.echo(output.json_text(found))
    elif found["items"]:
        head = ("ID", "HOLDER", "MODE", "LEFT", "RESOURCES")
        click.echo(output.table(head, [_row(item) for item in found["items"]], right="d"))
    else:
        click.echo("Nothing is held.", err=True)
    return 0


@command.command("queue")
@use
def queue(session: Session, /) -> int:
    """List who waits for a lease.

    \b
    Example:
      mufakat lease queue
    """
    with attach.attached(session) as client:
        found = client.get("/leases/queue")
    if session.json:
        click.echo(output.json_text(found))
    elif found["items"]:
        rows = [
            (
                output.number(position),
                output.line(item["holder"]),
                output.line(item["mode"]),
                output.moment(item["enqueued"], "%H:%M:%S"),
                output.line(" ".join(item["resources"])),
            )
            for position, item in enumerate(found["items"], 1)
        ]
        click.echo(output.table(("", "WHO", "MODE", "SINCE", "RESOURCES"), rows))
    else:
        click.echo("Nobody waits.", err=True)
    return 0


@command.command("watch")
@use
def watch(session: Session, /) -> int:
    """Print what happens to leases from now on.

    \b
    Example:
      mufakat lease watch
    """
    with attach.attached(session) as client:
        start = str(client.get("/events", {"limit": 1})["head"])
        for event in events.follow(client, after=start, subject="", kinds=[], tries=14):
            if event.kind.startswith("lease."):
                row = {"id": event.id, "at": event.at, "kind": event.kind, "data": dict(event.data)}
                words = f"{event.kind}  {event.data.get('holder', '')}  " + " ".join(
                    str(one) for one in event.data.get("resources", ())
                )
                click.echo(output.json_line(row) if session.json else output.line(words))
    return 0


def _fence(client: Client, id: str) -> str:
    found = client.get(f"/leases/{id}")
    return str(next(iter(found["fences"].values())))


def _row(item: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        output.line(item["id"])[:14],
        output.line(item["holder"]),
        output.line(item["mode"]),
        duration.shown(item["expires_in"]),
        output.line(" ".join(item["resources"])),
    )


def _print_one(session: Session, found: Mapping[str, Any]) -> None:
    if session.json:
        click.echo(output.json_text(found))
        return
    left = duration.shown(found["expires_in"])
    click.echo(f"{output.line(found['id'])}  {output.line(found['holder'])}  {left} left")
    for resource, fence in found["fences"].items():
        click.echo(f"  {output.line(resource)}  fence {output.line(fence)}")
