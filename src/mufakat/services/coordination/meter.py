"""The meter of who sends how much; it is kept in memory, for a restart does no harm to it."""

from __future__ import annotations

from mufakat.core.base import ConversationId, MessageId, Millis, TooMany
from mufakat.core.coordination import flood
from mufakat.core.coordination.flood import Bucket, Rate, Rates

ENTRIES = 20_000
"""Of each table; the oldest are forgotten first."""


class Meter:
    """Counts sends; used inside the store's steps alone, which run one after the other."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._buckets: dict[tuple[str, str], Bucket] = {}
        self._said: dict[str, tuple[MessageId, Millis]] = {}

    def take(
        self, sender: str, recipients: tuple[str, ...], thread: ConversationId, *, now: Millis
    ) -> None:
        """Take a token for each recipient and the thread; raises TooMany, and then takes none."""
        wanted = {(sender, name): self._rates.recipient for name in recipients}
        wanted[sender, thread] = self._rates.thread
        taken = {pair: self._one(pair, rate, now) for pair, rate in wanted.items()}
        self._buckets |= taken
        _forget(self._buckets)

    def _one(self, pair: tuple[str, str], rate: Rate, now: Millis) -> Bucket:
        bucket = flood.take(self._buckets.get(pair), rate, now)
        if isinstance(bucket, Bucket):
            return bucket
        raise TooMany(
            f"You send too much to {pair[1]}.",
            fix=f"Wait {bucket:.0f} seconds, and put several messages into one.",
            retry_after=round(bucket, 1),
        )

    def said(self, words: str, *, now: Millis) -> MessageId | None:
        """The message that said the very same a moment ago."""
        known = self._said.get(words)
        return known[0] if known and now - known[1] < flood.SAME_MS else None

    def remember(self, words: str, message: MessageId, *, now: Millis) -> None:
        """Keep what was said, once it is stored."""
        self._said.pop(words, None)
        self._said[words] = (message, now)
        _forget(self._said)


def _forget(table: dict[tuple[str, str], Bucket] | dict[str, tuple[MessageId, Millis]]) -> None:
    if len(table) > ENTRIES:
        for key in list(table)[: ENTRIES // 2]:
            del table[key]  # type: ignore[arg-type]
