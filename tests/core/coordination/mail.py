"""Made-up letters for tests of inbox, gate and digest."""

from __future__ import annotations

from mufakat.core.base import ConversationId, MessageId, Millis
from mufakat.core.coordination.gate import Rule, Stop, Turn
from mufakat.core.coordination.inbox import Delivery, Envelope, Intent, Letter, Status

ME, PEER, OTHER = "claude@host:aaaaaa", "codex@host:bbbbbb", "gemini@host:cccccc"
FENCE = "fEnCeFeNcEfEnCeFeNcE12"
ROOM = ConversationId("c_room")


def letter(
    number: int,
    text: str = "words",
    *,
    intent: Intent = Intent.INFORM,
    status: Status = Status.QUEUED,
    priority: int = 1,
    times: int = 0,
    turn: str = "",
    turns: int = 0,
    hops: int = 0,
    epoch: int = 0,
    sender: str = PEER,
) -> Letter:
    id = MessageId(f"m_{number}")
    envelope = Envelope(id, ROOM, sender, (ME,), intent, priority, Millis(0), hops=hops)
    row = Delivery(
        ME, number, id, status, Millis(0), times=times, turn=turn, turns=turns, offered_to=epoch
    )
    return Letter(envelope, row, text, len(text))


def stop(*open: Letter, rule: Rule = Rule.ALL, background: bool = False, **turn: object) -> Stop:
    held = Turn(ME, "s", "t", **turn)  # type: ignore[arg-type]
    return Stop(open, held, rule, background, FENCE)
