"""How a roundtable is shown in a terminal: while it runs, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from mufakat.cli import exit_codes, output
from mufakat.cli.session import Session
from mufakat.sdk import events
from mufakat.sdk.client import Client
from mufakat.sdk.errors import ServerError

Table = dict[str, Any]
LEFT = frozenset({"done", "stopped", "capped", "failed", "paused"})
ENDS = frozenset({"roundtable.ended", "roundtable.paused", "reset"})
WAIT_SECONDS = 20
CODES = {"done": exit_codes.OK, "paused": exit_codes.HELD, "capped": exit_codes.HELD}


def cursor(client: Client) -> str:
    """The head of the event log, to follow it from here on."""
    return str(client.get("/events", {"limit": 1})["head"])


def exit_code(table: Table) -> int:
    """What a command that followed a table answers."""
    return CODES.get(table["status"], exit_codes.FAILED)


def to_end(session: Session, client: Client, table: Table, after: str) -> Table:
    """Follow a table until it has ended or is paused; progress goes to stderr."""
    path = f"/roundtables/{table['id']}"
    letters = {one["label"]: one["identity"] for one in table["seats"]}
    if table["warning"]:
        _note(session, "note", table["warning"])
    stream = events.follow(client, after=after, subject=table["id"])
    try:
        for event in stream:
            _progress(session, event, letters)
            if event.kind in ENDS:
                break
    except ServerError as problem:
        _note(session, "note", f"{problem} The table goes on; waiting for its end.")
    finally:
        stream.close()
    while True:
        found: Table = client.get(path, {"wait": WAIT_SECONDS}, seconds=WAIT_SECONDS + 10)
        if found["status"] in LEFT:
            return found


def _progress(session: Session, event: events.Event, letters: Mapping[str, str]) -> None:
    data = event.data
    where = f"round {data.get('round')}/{data.get('rounds')}"
    who = f"{data.get('seat')} {letters.get(str(data.get('seat')), '')}".strip()
    match event.kind:
        case "roundtable.asked":
            again = " again" if data.get("attempt", 1) != 1 else ""
            _note(session, "asked", f"{where}  {who}{again}")
        case "roundtable.spoke":
            claims = ", ".join(data.get("claims", ())) or "no new claim"
            words = claims if data.get("standing") == "stated" else data.get("problem")
            _note(session, str(data.get("standing")), f"{where}  {who}  {words}")
        case "roundtable.round":
            counts = [f"{len(data.get(name, ()))} {name}" for name in ("agreed", "open", "dissent")]
            _note(session, "round", f"{where}  {', '.join(counts)}")
        case "roundtable.remark" | "roundtable.dropped" | "roundtable.paused":
            _note(session, event.kind.partition(".")[2], f"{where}  {data.get('why', '')}")
        case "roundtable.ended":
            _note(session, str(data.get("status")), str(data.get("why", "")))


def _note(session: Session, what: str, text: str) -> None:
    if not session.json_errors:
        click.echo(f"{output.line(what):>8}  {output.fit(output.line(text), 160)}", err=True)


def preflight(found: Mapping[str, Any]) -> str:
    """An estimate as a table."""
    rows = [
        (str(r["round"]), r["seat"], f"{r['chars']:,}", f"{r['tokens']:,}", r["variant"])
        for r in found["rows"]
    ]
    total = ("", "all", f"{found['chars']:,}", f"{found['tokens']:,}", "")
    head = ("ROUND", "SEAT", "CHARACTERS", "TOKENS", "VARIANT")
    share = found["chars"] / found["naive"] if found["naive"] else 0
    lines = [
        output.table(head, [*rows, total], right="cd"),
        f"whole packs for everybody in every round: {found['naive']:,} characters; "
        f"this is {share:.0%} of it",
    ]
    return "\n".join([*lines, *([f"note: {found['warning']}"] if found["warning"] else [])])


def whole(table: Table) -> str:
    """What was said, what it came to, what it took."""
    parts = [_head(table), _said(table), *_points(table), _ledger(table)]
    return "\n\n".join(part for part in parts if part)


def _head(table: Table) -> str:
    seats = [
        f"  {one['label']}  {output.line(one['identity'])}{_aside(one)}" for one in table["seats"]
    ]
    why = f": {output.line(table['why'])}" if table["why"] else ""
    where = f"round {table['round']} of {table['rounds']}"
    note = [f"note: {output.line(table['warning'])}"] if table["warning"] else []
    return "\n".join([f"{table['id']}  {table['status']} in {where}{why}", *seats, *note])


def _aside(one: Mapping[str, Any]) -> str:
    parts = [one["model"], one["stance"], one["standing"] if one["standing"] != "active" else ""]
    shown = "; ".join(output.line(part) for part in parts if part)
    return f"  ({shown})" if shown else ""


def _said(table: Table) -> str:
    lines: list[str] = []
    for one in table["words"]:
        position = one["position"]
        words = position["stance"] if position else f"{one['standing']}: {one['problem']}"
        lines.append(f"round {one['round']}  {one['seat']}  {output.line(words)}")
        for claim in position["claims"] if position else ():
            lines.append(f"            {claim['id']}  {output.line(claim['text'])}")
    return "\n".join(lines)


def _points(table: Table) -> Sequence[str]:
    numbers = {one["claim"]: one["id"] for one in table["decisions"]}
    found: list[str] = []
    for outcome in ("agreed", "open", "dissent"):
        points = [one for one in table["points"] if one["outcome"] == outcome]
        if points:
            lines = [line for one in points for line in _point(one, numbers)]
            found.append("\n".join([outcome, *lines]))
    if table["unstated"]:
        found.append(f"unstated  {', '.join(table['unstated'])}")
    return found


def _point(one: Mapping[str, Any], numbers: Mapping[str, str]) -> Sequence[str]:
    record = f" ({numbers[one['id']]})" if one["id"] in numbers else ""
    held = ", ".join(one["agree"]) or "nobody"
    lines = [f"  {one['id']}{record}  {output.line(one['text'])}  [{held}]"]
    lines += [
        f"      {each['seat']} {each['outcome']}: {output.line(each['why']) or 'no reason given'}"
        for each in one["against"]
    ]
    return lines


def _ledger(table: Table) -> str:
    rows = [
        (str(w["round"]), w["seat"], f"{w['chars']:,}", f"{w['tokens']:,}", _cost(w["cost"]))
        for w in table["words"]
    ]
    spent = table["spent"]
    total = ("", "all", f"{spent['chars']:,}", f"{spent['tokens']:,}", _cost(spent["cost"]))
    head = ("ROUND", "SEAT", "CHARACTERS", "TOKENS", "COST")
    return output.table(head, [*rows, total], right="cde")


def _cost(value: float | None) -> str:
    return "–" if value is None else f"${value:.4f}"
