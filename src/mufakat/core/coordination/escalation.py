"""What a person is told of an agent that ended its turn with mail it never dealt with."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.coordination.inbox import Letter, Status

LISTED = 20
"""Messages that are named; the others are counted."""


def words(agent: str, left: Sequence[Letter], *, held: int) -> str:
    """Name the agent and what it left, oldest first, without any word of the messages.

    It is said in Mufakat's own voice, where nothing that an agent wrote may stand.
    """
    ordered = sorted(left, key=lambda one: one.delivery.number)
    lines = [_line(one) for one in ordered[:LISTED]]
    if len(ordered) > LISTED:
        lines.append(f"- and {len(ordered) - LISTED:,} more")
    many = "1 message" if len(ordered) == 1 else f"{len(ordered):,} messages"
    return "\n".join(
        (
            f"{agent} ended its turn with {many} open, after it was held {held} times:",
            *lines,
            "Ask it again, answer in its place or tell the senders; then acknowledge this.",
        )
    )


def refs(left: Sequence[Letter]) -> tuple[str, ...]:
    """Ids of the messages that are named, oldest first."""
    ordered = sorted(left, key=lambda one: one.delivery.number)
    return tuple(one.envelope.message for one in ordered[:LISTED])


def _line(one: Letter) -> str:
    sent = one.envelope
    how = "shown" if one.delivery.status is Status.SHOWN else "not shown"
    need = "unanswered" if sent.requires_ack else "unread"
    return f"- {sent.intent} {sent.message} from {sent.sender}: {need}, {how}"
