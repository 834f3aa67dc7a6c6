"""Reads the event log above a cursor; the notifier only wakes, the data always come from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import LoggedEvent, Revision
from mufakat.server.sight import Sieve
from mufakat.services.feed import Feed

PAGE = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a reader asked for; empty fields take all."""

    subject: str = ""
    conversation: str = ""
    kinds: tuple[str, ...] = ()
    sieve: Sieve | None = None

    def takes(self, event: LoggedEvent) -> bool:
        """Whether an event belongs to the conversation that was asked for."""
        return not self.conversation or self.conversation in (
            event.subject,
            event.data.get("conversation"),
        )


@dataclass(frozen=True, slots=True)
class Read:
    """Events, and the revision up to which the log was looked through."""

    events: Sequence[LoggedEvent]
    reached: Revision
    more: bool
    """There may be more at once."""


async def read(
    feed: Feed, after: Revision, *, head: Revision, wanted: Wanted, limit: int = PAGE
) -> Read:
    """Read one page; `head` must have been seen before, so that nothing below it is missed."""
    rows = await feed.after(after, limit=limit, subject=wanted.subject, kinds=wanted.kinds)
    more = len(rows) >= limit
    reached = rows[-1].revision if rows else after
    if not more:
        reached = max(reached, head)
    taken: Sequence[LoggedEvent] = [row for row in rows if wanted.takes(row)]
    if wanted.sieve is not None:
        taken = await wanted.sieve(taken)
    return Read(taken, reached, more)
