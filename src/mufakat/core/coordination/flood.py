"""Against floods: how often somebody may send, and when two agents only answer each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mufakat.core.base import Millis
from mufakat.core.coordination import identity
from mufakat.core.coordination.inbox import Envelope
from mufakat.core.talk.message import Kind

HOPS = 8
"""Automatic replies in a thread without a person; from then on messages hold nobody."""
LOOK_BACK = 10
"""Messages of a thread that are looked at for what a message may be a reply to."""
SAME_MS = 60_000
"""The same words to the same recipients within this time are one message."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How much a bucket holds, and how many come back a second."""

    burst: int
    per_second: float


@dataclass(frozen=True, slots=True)
class Rates:
    """What a sender may send to one recipient, and into one thread."""

    recipient: Rate = Rate(30, 0.5)
    thread: Rate = Rate(60, 1.0)


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is left of a rate."""

    tokens: float
    at: Millis


def take(bucket: Bucket | None, rate: Rate, now: Millis) -> Bucket | float:
    """Take one token; answers the seconds until there is one where the bucket is empty."""
    left = float(rate.burst)
    if bucket is not None:
        back = max(0, now - bucket.at) / 1000 * rate.per_second
        left = min(left, bucket.tokens + back)
    if left < 1:
        return (1 - left) / rate.per_second
    return Bucket(left - 1, now)


@dataclass(frozen=True, slots=True)
class Before:
    """A message of the thread, as far as counting replies needs it."""

    kind: Kind
    speaker: str
    hops: int = 0
    to_sender: bool = False
    """It was sent to whoever speaks now."""


def hops(sender: str, before: Iterable[Before], answered: Envelope | None) -> int:
    """How many automatic replies a message is away from the last word of a person.

    `before` is the thread, newest first; `answered` is what the message replies to by name, which
    may stand in another thread. Mufakat's own notices are no part of the count.
    """
    for said in before:
        if said.kind is Kind.PERSON:
            return 1
        if passed_over(said.speaker, sender):
            continue
        if said.to_sender:
            return max(said.hops, answered.hops if answered else 0) + 1
    return answered.hops + 1 if answered and not ours(answered.sender) else 0


def passed_over(speaker: str, sender: str) -> bool:
    """Whether an agent's message is no step of the chain: the sender's own, or Mufakat's."""
    return speaker == sender or ours(speaker)


def holds(envelope: Envelope) -> bool:
    """Whether a message may hold an agent at its stop."""
    return envelope.hops < HOPS


def ours(speaker: str) -> bool:
    """Whether Mufakat itself speaks."""
    who = identity.parse(speaker)
    return who is not None and who.engine == "mufakat"
