"""A pack's receipt for people: one bar of tiers, one row a section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mufakat.cli import output
from mufakat.cli.session import Session

BAR = 60
MARKS = "█▓▒"
"""One mark a tier, so that the bar can be read without colours."""
UNUSED = "·"


def render(session: Session, pack: Mapping[str, Any]) -> str:
    """The whole receipt as text; a preview has no id yet."""
    return "\n".join(
        [*_head(session, pack), "", *_bar(session, pack), "", _sections(pack), *_rest(pack)]
    )


def _head(session: Session, pack: Mapping[str, Any]) -> list[str]:
    name = f"Pack {output.line(pack['id'])}" if pack.get("id") else "Preview"
    at = output.moment(pack["created"]) if pack.get("created") else "not sent"
    lines = [f"{name}  {output.line(pack.get('identity') or '')}  {output.dim(session, at)}"]
    lines.append(
        f"{output.line(pack['mode'])} ({output.line(pack['reason'])}): "
        f"{pack['used']:,} of {pack['budget']:,} characters used, "
        f"about {pack.get('tokens') or 0:,} tokens"
    )
    if pack.get("resumed"):
        lines.append("goes on in the engine's session")
    elif pack.get("resume_why"):
        lines.append(f"new session: {output.line(pack['resume_why'])}")
    lines.append(output.dim(session, f"parity {output.line(pack['parity'])[:16]}"))
    return lines


def _bar(session: Session, pack: Mapping[str, Any]) -> list[str]:
    """Used characters by tier beside the whole budget."""
    used = [0, 0, 0]
    for section in pack["sections"]:
        used[min(2, max(0, int(section["tier"])))] += _used(section)
    budget = max(1, int(pack["budget"]))
    cells = [max(1, round(size * BAR / budget)) if size else 0 for size in used]
    left = max(0, BAR - sum(cells))
    bar = "".join(
        output.paint(session, mark * count, colour)
        for mark, count, colour in zip(MARKS, cells, output.TIERS, strict=True)
    )
    legend = "  ".join(
        f"{output.paint(session, MARKS[tier], output.TIERS[tier])} tier {tier} {size:,}"
        for tier, size in enumerate(used)
        if size
    )
    unused = f"{UNUSED} unused {max(0, budget - sum(used)):,}"
    return [f"{bar}{output.dim(session, UNUSED * left)}", f"{legend}  {unused}".strip()]


def _used(section: Mapping[str, Any]) -> int:
    return int(section.get("used") or 0)


def _sections(pack: Mapping[str, Any]) -> str:
    rows = [
        (
            output.line(section["kind"]),
            output.line(section["tier"]),
            output.number(section["need"]),
            output.number(section["granted"]),
            output.number(_used(section)),
            output.number(len(section["items"])),
            output.number(section["degraded"]),
            output.line(section["why"]),
        )
        for section in pack["sections"]
    ]
    head = ("SECTION", "TIER", "NEED", "GRANTED", "USED", "ITEMS", "CUT", "WHY")
    return output.table(head, rows, right="bcdefg")


def _rest(pack: Mapping[str, Any]) -> list[str]:
    gaps = [
        f"  {output.line(gap['source'])}: {output.line(gap['why'])}"
        for gap in pack.get("unavailable") or ()
    ]
    notes = [f"  {output.line(note)}" for note in pack.get("notes") or ()]
    return [
        *(["", "Unavailable:", *gaps] if gaps else []),
        *(["", "Notes:", *notes] if notes else []),
    ]
