"""What the gate could not make an agent do becomes the person's: one open letter a turn."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.coordination import escalation
from mufakat.core.coordination.gate import Turn
from mufakat.core.coordination.inbox import Letter
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.sending import Sending
from mufakat.ports.store import Transaction
from mufakat.services import idempotency
from mufakat.services.coordination import inbox, pause, rooms
from mufakat.services.coordination.inbox import Addressed, Post
from mufakat.services.coordination.recipients import Resolved

PRIORITY = 2


def escalate(
    tx: Transaction, person: str, agent: Instance, *, turn: Turn, left: Sequence[Letter]
) -> None:
    """Tell a person once of a turn what its agent left; it stays open until acknowledged."""
    to = tx.instances.get(person) if left else None
    key = f"gate/{idempotency.digest(turn.identity, turn.session, turn.turn)}"
    if to is None or tx.keys.find(key) is not None:
        return
    wanted = Sending(
        (person,),
        intent="alert",
        body=escalation.words(agent.identity, left, held=turn.blocks),
        refs=escalation.refs(left),
        priority=PRIORITY,
    )
    thread = rooms.of(tx, agent) or left[0].envelope.conversation
    where = Addressed(Resolved((person,), (to,)), thread, None)
    sent = inbox.store(tx, Post(pause.SYSTEM, wanted), where)
    idempotency.keep(tx, key, "", sent.message)
