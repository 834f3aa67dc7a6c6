"""`mufakat policy`: which rules give leases to whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from mufakat.cli import attach, duration, output
from mufakat.cli import resources as paths
from mufakat.cli.session import Group, Session, use

CLASSES = ("CLASS", "PREEMPTION", "MAX HOLD", "MIN HOLD", "LEASES", "BROAD")


@click.group("policy", cls=Group, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """The policy file of this home, and what it would decide.

    \b
    Examples:
      mufakat policy
      mufakat policy explain "file:src/**"
    """
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(show) or 0)
    return 0


@command.command("show")
@use
def show(session: Session, /) -> int:
    """Show the policy in force, and what is wrong with a newer one.

    \b
    Example:
      mufakat policy show
    """
    with attach.attached(session) as client:
        found = client.get("/policy")
    click.echo(output.json_text(found) if session.json else "\n\n".join(_parts(found)))
    return 0


@command.command("explain")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option("--shared", is_flag=True, help="Ask for shared use.")
@use
def explain(session: Session, /, resources: tuple[str, ...], shared: bool) -> int:
    """Say what a request would get and by which rule; nothing is done.

    \b
    Example:
      mufakat policy explain repo:.
    """
    body = {"resources": paths.absolute(resources), "mode": "shared" if shared else "exclusive"}
    with attach.attached(session) as client:
        paths.register(client)
        found = client.post("/policy/explain", body)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(output.pairs([(name, value) for name, value in _said(found) if value != ""]))
    return 0


def _parts(found: Mapping[str, Any]) -> Iterator[str]:
    """The policy as people read it: its settings, then a table for everything that has rows."""
    yield output.pairs([(name, value) for name, value in _settings(found) if value])
    yield output.table(CLASSES, [_class(one) for one in found["classes"]], right="cde")
    named = [(one["pattern"], one["class"]) for one in found["identities"]]
    for head, rows in (
        (("IDENTITY", "CLASS"), named),
        (("ROLE", "CLASS"), found["roles"].items()),
        (("ROLE", "STOP GATE"), found["gates"].items()),
    ):
        if rows:
            yield output.table(head, [(output.line(one), output.line(two)) for one, two in rows])


def _settings(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    busy = found["high_traffic"]
    yield "version", found["version"]
    yield "problem", found["problem"]
    yield "class", f"{found['default']}; of people {found['operator']}"
    trusted = found["trust_claimed_roles"]
    yield "roles", "count where they are only claimed too" if trusted else "count where granted"
    yield "grace", duration.shown(found["grace"])
    yield "aging", f"a class counts as {duration.shown(found['aging'])} of waiting"
    yield "queue", f"{output.number(found['queue'])} for one resource"
    yield "requests", f"{found['per_second']:g} a second, {output.number(found['burst'])} at once"
    yield (
        "high traffic",
        f"from {_load(busy, 'on')} until {_load(busy, 'off')}; "
        f"leases last {duration.shown(busy['max_ttl'])}",
    )


def _load(busy: Mapping[str, Any], way: str) -> str:
    return f"{busy[f'depth_{way}']} waiting or {duration.shown(busy[f'wait_{way}'])} of waiting"


def _class(one: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        output.line(one["name"]),
        output.line(one["preemption"]),
        duration.shown(one["max_hold"]),
        duration.shown(one["min_hold"]),
        output.number(one["leases"]),
        output.number(one["broad"]),
    )


def _said(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "answer", found["answer"]
    yield "rule", found["rule"]
    yield "class", found["name"] + (" (a higher one was asked for)" if found["clamped"] else "")
    yield "note", found["note"]
    yield "why", found["why"]
    for one in found["holders"]:
        reason = f": {one['reason']}" if one["reason"] else ""
        left = duration.shown(one["remaining"])
        yield "held by", f"{one['holder']}, {one['resource']}, {left} left{reason}"
    yield "position", output.number(found["position"]) if found["position"] else ""
    yield "circle", " → ".join(found["cycle"])
    yield "lasts", duration.shown(found["ttl"])
    yield "high traffic", "on" if found["high_traffic"] else ""
    yield "policy", found["version"]
