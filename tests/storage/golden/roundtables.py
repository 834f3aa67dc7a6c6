"""The records of roundtables that a golden database holds, since schema 0011."""

from __future__ import annotations

import dataclasses
from typing import Any

from equipment import store_records as make
from equipment.store_records import PROJECT, TALK, number
from mufakat.core.base import Millis, RoundtableId, TurnId
from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.decision import Decision, Objection, Standing
from mufakat.core.deliberation.merging import Outcome
from mufakat.core.deliberation.position import Claim, Position, Vote
from mufakat.core.deliberation.round import Standing as Stand
from mufakat.core.deliberation.round import Word
from mufakat.core.deliberation.roundtable import Order, Remark, Roundtable, Status
from mufakat.core.deliberation.seat import Seat
from mufakat.ports.store import Transaction

SINCE = "0011"
ID = RoundtableId("r_1")
TABLE = Roundtable(
    id=ID,
    project=PROJECT,
    conversation=TALK,
    question=number(1),
    number=1,
    seats=(Seat("A", "claude", "opus", "für", "anthropic", make.agent().id, "claude@host:61"),),
    rounds=3,
    created=Millis(1),
    updated=Millis(2),
    order=Order.SEQUENTIAL,
    blind=False,
    anonymous=False,
    role="general",
    budget=12_000,
    caps=Caps(1, 2, 0.25, 60.5),
    remarks=(Remark(number(2), 2, 1),),
    status=Status.PAUSED,
    round=2,
    since=Millis(0),
    worked=7,
    why="é",
    server="human@host:000000",
)
WORD = Word(
    ID,
    1,
    "A",
    Stand.STATED,
    (TurnId("t_1"),),
    number(2),
    Position("für", (Claim("A1", "Ja."),), ("B1",), (Vote("B2", "é"),), (Vote("B3"),)),
    "line 3: é",
    1,
    10,
    4,
    0.5,
    2,
)
DECISION = Decision(
    project=PROJECT,
    number=1,
    conversation=TALK,
    roundtable=ID,
    claim="A1",
    text="Ja.",
    outcome=Outcome.DISSENT,
    agree=("claude@host:61",),
    against=(Objection("codex@host:62", Outcome.DISSENT, "é"),),
    created=Millis(3),
    updated=Millis(4),
    standing=Standing.REOPENED,
    reason="codex@host:62: é",
)


def fill(tx: Transaction) -> None:
    """A table with a seat, a word and a decision."""
    tx.roundtables.add(TABLE)
    tx.roundtables.keep_word(WORD)
    tx.decisions.add(dataclasses.replace(DECISION, number=0))


def contents(tx: Transaction) -> dict[str, Any]:
    """What `fill` wrote, as the present version reads it."""
    return {
        "table": tx.roundtables.get(ID),
        "words": list(tx.roundtables.words(ID)),
        "decisions": list(tx.decisions.of_table(ID)),
    }


def expected(revision: str) -> dict[str, Any]:
    """What a golden database of that schema holds."""
    if revision < SINCE:
        return {"table": None, "words": [], "decisions": []}
    return {"table": TABLE, "words": [WORD], "decisions": [DECISION]}
