"""Section `roundtable`: the table's rules, the seat, the question, and what people said to it."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote
from mufakat.core.deliberation import position
from mufakat.core.deliberation.briefing import Briefing, Quoted
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust

KIND = "roundtable"


def render(facts: Facts) -> Sequence[Item]:
    """Nothing unless a seat is asked; what stays the same over the rounds comes first."""
    briefing = facts.briefing
    if briefing is None:
        return []
    fence = facts.history.fence
    rules = f"{briefing.rules.strip()}\n{position.prompt(briefing.letter)}"
    return [
        _ours(f"table:{briefing.table}:rules", rules),
        _ours(f"table:{briefing.table}:seat", _seat(briefing)),
        _quoted(briefing.question, fence, "The question"),
        *(_quoted(one, fence, "A remark for all seats") for one in briefing.remarks),
    ]


def _seat(briefing: Briefing) -> str:
    others = ", ".join(briefing.others)
    lines = [f"You are Seat {briefing.letter}. At the table with you: {others or 'nobody'}."]
    if briefing.stance:
        lines.append(
            f"You were given a side: {briefing.stance} Make its best case; "
            "concede what you cannot defend."
        )
    return "\n".join(lines)


def _ours(id: str, text: str) -> Item:
    return Item(id, "platform", Trust.PLATFORM, ((Resolution.FULL, text),))


def _quoted(one: Quoted, fence: str, what: str) -> Item:
    body = f"{what}:\n{quote.header(fence, one.number, one.speaker)}{quote.inert(one.text, fence)}"
    return Item(
        f"m:{one.number}",
        f"message m:{one.number}",
        Trust.PEER,
        ((Resolution.FULL, body.rstrip("\n")),),
        author=one.speaker,
    )
