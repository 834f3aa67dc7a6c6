"""The chain over the event log: whether it is what was written, in the order it was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mufakat.core.base import LoggedEvent, Millis, Revision


@dataclass(frozen=True, slots=True)
class Anchor:
    """What the log comes to at a revision; who keeps one elsewhere notices any change before it."""

    revision: Revision
    chain: str
    """SHA-256 in hex; empty for an empty log."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """An event as it lies in the database, with its own digest and its link."""

    revision: Revision
    at: Millis
    kind: str
    subject: str
    data: str
    """JSON, as it was written."""
    seal: str
    """SHA-256 over the fields before it."""
    chain: str
    """SHA-256 over the chain of the event before it and its own seal."""

    def event(self) -> LoggedEvent:
        """The event itself; only for one that was verified."""
        return LoggedEvent(self.revision, self.at, self.kind, self.subject, json.loads(self.data))


class Chain:
    """Follows the log from its first event, or from an anchor, and names what does not fit."""

    def __init__(self, start: Anchor = Anchor(Revision(0), "")) -> None:  # noqa: B008 - frozen
        self.at = start

    def follow(self, events: Iterable[Sealed]) -> Iterator[str]:
        """Problems of the next events, in order."""
        for one in events:
            if one.revision != self.at.revision + 1:
                yield f"revision {self.at.revision + 1} is missing; {one.revision} follows"
            if one.seal != seal(one):
                yield f"revision {one.revision} was changed: its own digest does not fit"
            if one.chain != link(self.at.chain, one.seal):
                yield f"revision {one.revision} does not continue what stands before it"
            self.at = Anchor(one.revision, one.chain)

    def arrive(self, head: Anchor) -> Iterator[str]:
        """Problems of the end, which must be what the head row remembers."""
        if self.at.revision != head.revision:
            yield f"the log ends at revision {self.at.revision}, its head says {head.revision}"
        elif self.at.chain != head.chain:
            yield f"the log does not come to what its head says at revision {head.revision}"


def seal(one: Sealed) -> str:
    """The digest that an event must have."""
    fields = (one.revision, one.at, one.kind, one.subject, one.data)
    return hashlib.sha256("\0".join(map(str, fields)).encode("utf-8", "replace")).hexdigest()


def link(before: str, own: str) -> str:
    """The chain after an event with the seal `own`."""
    return hashlib.sha256((before + own).encode()).hexdigest()
