"""`mufakat agents`: who takes part, what they do, and who may."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Group, Session, use
from mufakat.sdk.client import Query

MARKS = {"working": "●", "blocked": "■", "idle": "○", "starting": "◌", "offline": "·"}


@click.group("agents", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """List who takes part: identity, state, since when, open messages.

    \b
    Examples:
      mufakat agents
      mufakat agents show claude@greenmac
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_command) or 0)
    return 0


@command.command("list")
@click.option("--all", "everyone", is_flag=True, help="Also those who have gone.")
@click.option("--project", default="", metavar="ID", help="Only those of this project.")
@use
def list_command(session: Session, /, everyone: bool, project: str) -> int:
    """List agents, the latest caller first.

    \b
    Example:
      mufakat agents list --all
    """
    query: Query = {"project": project, "online": 0 if everyone else 1}
    with attach.attached(session) as client:
        found = client.get("/agents", query)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    if not found["items"]:
        click.echo("Nobody is here. Agents join when they are asked or by hooks.", err=True)
        return 0
    head = ("", "AGENT", "ROLE", "STATE", "SINCE", "OPEN", "DETAIL")
    click.echo(output.table(head, [_row(item) for item in found["items"]], right="f"))
    return 0


def _row(item: Mapping[str, Any]) -> tuple[str, ...]:
    state = str(item["state"])
    on = f": {item['on']}" if item.get("on") else ""
    return (
        MARKS.get(state, "?"),
        output.line(item["alias"] or item["identity"]),
        output.line(item["role"]),
        output.line(state + on),
        output.moment(item["since"], "%H:%M"),
        output.number(item["inbox"]["head"] - item["inbox"]["acked"]),
        output.line(item["detail"]),
    )


@command.command("show")
@click.argument("name", default="me")
@use
def show(session: Session, /, name: str) -> int:
    """Show one agent: identity, alias or the beginning of one; `me` by default.

    \b
    Example:
      mufakat agents show claude@greenmac:8f3a
    """
    with attach.attached(session) as client:
        found = client.get(f"/agents/{quote(name, safe='')}")
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(output.pairs([(k, v) for k, v in found.items() if v not in (None, "", [])]))
    return 0


@command.command("join")
@click.argument("engine")
@click.option("--role", default="", metavar="NAME", help="Role, for example tester.")
@click.option("--alias", default="", metavar="NAME", help="A name that others may call it by.")
@click.option("--project", default="", metavar="DIR", help="Folder; the current one by default.")
@click.option("--agent-session", default="", metavar="ID", help="Joins as the same one again.")
@use
def join(session: Session, /, engine: str, **options: str) -> int:
    """Join an agent of your own, and print its identity and token.

    Commands that run with the token in MUFAKAT_TOKEN are this agent's.

    \b
    Example:
      mufakat agents join nightly --role tester --json
    """
    body = {
        "engine": engine,
        "role": options["role"],
        "alias": options["alias"],
        "project": str(Path(options["project"] or ".").absolute()),
        "session": options["agent_session"],
    }
    with attach.attached(session) as client:
        found = client.post("/agents", body)
    shown = output.json_text(found) if session.json else f"{found['identity']}\n{found['token']}"
    click.echo(shown)
    return 0


@command.command("leave")
@click.argument("name", default="me")
@use
def leave(session: Session, /, name: str) -> int:
    """Take an agent offline: its leases are released, its token ends.

    \b
    Example:
      mufakat agents leave nightly@ci:4f21aa
    """
    with attach.attached(session) as client:
        client.delete(f"/agents/{quote(name, safe='')}")
    click.echo(output.json_line({"left": name}) if session.json else f"{name} has left.")
    return 0


@command.command("pause")
@use
def pause(session: Session, /) -> int:
    """Stop all agents: no new turns, no messages of theirs, tokens of runs end.

    \b
    Example:
      mufakat agents pause
    """
    return _switch(session, "pause", "Agents are paused; `mufakat agents unpause` lets them go on.")


@command.command("unpause")
@use
def unpause(session: Session, /) -> int:
    """Let agents go on after `pause`.

    \b
    Example:
      mufakat agents unpause
    """
    return _switch(session, "unpause", "Agents may go on.")


def _switch(session: Session, to: str, text: str) -> int:
    with attach.attached(session) as client:
        found = client.post(f"/agents/{to}")
    click.echo(output.json_line(found) if session.json else text)
    return 0
