"""What may be sent at all: every limit of a message, checked before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import InvalidInput, TooLarge
from mufakat.core.coordination.inbox import REQUIRES_ACK, URGENT, Intent

BODY_BYTES = 256 * 1024
RECIPIENTS = 64
REFS, REF_CHARS = 32, 512
KEY_BYTES = 128
HELD_SECONDS = 7 * 86_400
MAX_SECONDS = 365 * 86_400
"""Of a deadline and of a life."""
ROLE, TOPIC = "role:", "topic:"
KEY = re.compile(r"[\x21-\x7e]{1,128}")


@dataclass(frozen=True, slots=True)
class Sending:
    """What a sender asks for."""

    to: tuple[str, ...]
    """Identities, unique prefixes, aliases, `role:…`, `topic:…`; empty: the thread alone."""
    thread: str = ""
    intent: str = "inform"
    body: str = ""
    refs: tuple[str, ...] = ()
    reply_to: str = ""
    deadline_seconds: float | None = None
    ttl_seconds: float | None = None
    priority: int = 1
    steer: bool = False
    hold: bool = False
    """Keep it for who joins later under a name that nobody has yet."""
    project: str = ""


def check(sending: Sending, *, key: str) -> None:
    """Refuse what can never be delivered; raises InvalidInput or TooLarge."""
    if not KEY.fullmatch(key):
        raise InvalidInput(
            f"The idempotency key must be 1 to {KEY_BYTES} visible ASCII characters.",
            fix="Send a random id, and the same one again when you retry.",
        )
    _check_body(sending)
    _check_to(sending)
    _check_refs(sending.refs)
    if not 0 <= sending.priority <= URGENT:
        raise InvalidInput(f"There is no priority {sending.priority}.", fix="Give 0 to 3.")
    for name, seconds in (("deadline", sending.deadline_seconds), ("ttl", sending.ttl_seconds)):
        # A comparison that NaN fails.
        if seconds is not None and not 0 < seconds <= MAX_SECONDS:
            raise InvalidInput(f"The {name} is out of range.", fix="Give seconds, up to a year.")


def intent(name: str) -> Intent:
    """Read an intent; raises InvalidInput with those there are."""
    if name not in set(Intent):
        raise InvalidInput(
            f"There is no intent {name[:40]!r}.", fix=f"Choose one of: {', '.join(Intent)}."
        )
    return Intent(name)


def _check_body(sending: Sending) -> None:
    if not sending.body.strip():
        raise InvalidInput("The message is empty.", fix="Give it a body.")
    size = len(sending.body.encode("utf-8", "surrogatepass"))
    if size > BODY_BYTES:
        raise TooLarge(
            f"The message has {size:,} bytes; at most {BODY_BYTES:,} are taken.",
            fix="Put it into a file of the project and name the file in the message.",
        )


def _check_to(sending: Sending) -> None:
    wanted = intent(sending.intent)
    if not sending.to and not sending.thread and not sending.reply_to:
        raise InvalidInput("The message names nobody.", fix="Give `to` or `thread`.")
    if not sending.to and not sending.reply_to and wanted in REQUIRES_ACK:
        raise InvalidInput(
            f"A {wanted} needs somebody who answers.", fix="Name them in `to`; a role will do."
        )
    count(sending.to)
    for name in sending.to:
        if name in {"*", "all", "everyone", "@all"} or name in {ROLE, TOPIC}:
            raise InvalidInput(
                f"{name!r} is nobody: messages go to agents, roles and topics.",
                fix="Use `role:…` or `topic:…` to reach several at once.",
            )


def _check_refs(refs: Sequence[str]) -> None:
    if len(refs) > REFS or any(not 0 < len(ref) <= REF_CHARS for ref in refs):
        raise InvalidInput(
            f"At most {REFS} references of {REF_CHARS} characters are taken.",
            fix="Put the others into the body.",
        )


def count(recipients: Sequence[str]) -> None:
    """Refuse more recipients than a message may have; roles count for all who are in them."""
    if len(recipients) > RECIPIENTS:
        raise InvalidInput(
            f"The message has {len(recipients)} recipients; at most {RECIPIENTS} are taken.",
            fix="Write to a topic, or to fewer of them.",
        )
