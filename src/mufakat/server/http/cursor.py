"""Where a reader stands in the event log: `epoch-revision` on the wire."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import MufakatError, Revision
from mufakat.server.http.refusal import BadCursor, Compacted, FutureCursor, UnknownEpoch


@dataclass(frozen=True, slots=True)
class Log:
    """The log as a request found it."""

    epoch: str
    head: Revision
    oldest: Revision

    def wire(self, revision: Revision) -> str:
        """The wire id of a revision."""
        return f"{self.epoch}-{revision}"


def place(text: str, log: Log) -> Revision | MufakatError:
    """The revision a reader has seen up to, or why it cannot go on from there.

    An empty cursor means the beginning of what is kept.
    """
    if not text:
        return Revision(log.oldest - 1)
    epoch, _, number = text.rpartition("-")
    if not (text.isascii() and epoch.isalnum() and number.isdigit()) or len(number) > 19:
        return BadCursor()
    revision = Revision(int(number))
    if epoch != log.epoch:
        return UnknownEpoch(head=log.wire(log.head))
    if revision > log.head:
        return FutureCursor(head=log.wire(log.head))
    if revision < log.oldest - 1:
        return Compacted(oldest=log.wire(Revision(log.oldest - 1)))
    return revision
