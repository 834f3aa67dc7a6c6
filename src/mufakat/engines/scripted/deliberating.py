"""What the demo says at a roundtable: one claim about its pack, and a vote on what it heard."""

from __future__ import annotations

import json
import re

from mufakat.engines.scripted.told import Told

_SEAT = re.compile(r"You are Seat ([A-H])\.")
_ROUND = re.compile(r"Round (\d) of \d")
_CLAIM = re.compile(r"^claim ([A-H]\d+):", re.MULTILINE)
AGAINST = "against"
"""In the side that a seat was given: then it dissents from what it hears."""


def block(told: Told) -> str:
    """The block that a seat ends with; empty outside a roundtable."""
    rules = told.section("roundtable")
    seat = _SEAT.search("\n".join(one.text for one in told.sections if one.kind == "roundtable"))
    if not rules or seat is None:
        return ""
    letter = seat[1]
    round = _ROUND.search(told.prompt)
    first = round is None or round[1] == "1"
    heard = [id for id in _heard(told) if not id.startswith(letter)]
    against = AGAINST in _side(told)
    position = {
        "stance": AGAINST if against else "for",
        "claims": [{"id": f"{letter}1", "text": _claim(letter, told)}] if first else [],
        "agree": [] if against else heard,
        "dissent": [{"id": id, "why": "I was given the other side"} for id in heard if against],
    }
    return f"```position\n{json.dumps(position)}\n```"


def _claim(letter: str, told: Told) -> str:
    return f"Seat {letter} was told {len(told.sections)} sections before it first spoke."


def _heard(told: Told) -> list[str]:
    texts = [one.text for one in told.sections if one.kind == "positions"]
    return list(dict.fromkeys(_CLAIM.findall("\n".join(texts))))


def _side(told: Told) -> str:
    texts = "\n".join(one.text for one in told.sections if one.kind == "roundtable")
    found = re.search(r"You were given a side: (.*)", texts)
    return found[1] if found else ""
