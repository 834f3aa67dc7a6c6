"""Reading what a branch inherits, along its chain of parents."""

from __future__ import annotations

from collections.abc import Callable

from mufakat.core import quote
from mufakat.core.talk import branch, branch_origin
from mufakat.core.talk.branch import Branch
from mufakat.core.talk.branch_origin import Inherited, Origin
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import TALK, Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction

LOOKED_AT = 40
"""Messages before a checkpoint, those of tools too."""
Scrubbed = Callable[[Transaction, Message], Message]


def of(
    tx: Transaction, conversation: Conversation, *, scrub: Scrub, scrubbed: Scrubbed
) -> Origin | None:
    """What a conversation inherits; None where it is no branch."""
    first = tx.branches.get(conversation.id)
    if first is None:
        return None
    said: list[Inherited] = []
    at: Branch | None = first
    for steps in range(1, branch.MOST_DEEP + 1):
        if at is None:
            break
        messages = [scrubbed(tx, one) for one in _before(tx, at, branch_origin.room(steps))]
        said += branch_origin.inherited(messages, steps)
        at = tx.branches.get(at.parent)
    parent = tx.conversations.get(first.parent)
    title = scrub(parent.title).text if parent else ""
    return Origin(first.parent, title, first.number, tuple(said))


def _before(tx: Transaction, one: Branch, limit: int) -> list[Message]:
    """The checkpoint, and the talk before it, newest first."""
    rows = tx.messages.newest(one.parent, before=one.number + 1, limit=LOOKED_AT, clip=quote.LONG)
    return [said for said in rows if said.kind in TALK or said.number == one.number][:limit]
