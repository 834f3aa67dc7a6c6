"""The records of branches that a golden database holds, since schema 0010."""

from __future__ import annotations

from typing import Any

from equipment import store_records as make
from equipment.store_records import PROJECT, TALK, number
from mufakat.core.base import ConversationId, Millis
from mufakat.core.talk.branch import Branch, Status
from mufakat.ports.store import Transaction

SINCE = "0010"
OPEN, TAKEN = ConversationId("c_b1"), ConversationId("c_b2")
WHO = "human@host:000001"
FIRST = Branch(OPEN, TALK, number(1), 1, 1, PROJECT, WHO, Millis(6), Millis(6))
SECOND = Branch(
    TAKEN, TALK, number(1), 1, 1, PROJECT, WHO, Millis(6), Millis(7), Status.ADOPTED, number(2), 2
)


def fill(tx: Transaction) -> None:
    """Two branches of the thread, of which one was adopted; its messages are there."""
    for one in (FIRST, SECOND):
        tx.conversations.add(make.conversation(one.conversation))
        tx.branches.keep(one)


def contents(tx: Transaction) -> list[Branch]:
    """Everything that `fill` wrote, as the present version reads it."""
    return list(tx.branches.of(TALK))


def expected(revision: str) -> list[Any]:
    """What a golden database of that schema holds."""
    return [FIRST, SECOND] if revision >= SINCE else []
