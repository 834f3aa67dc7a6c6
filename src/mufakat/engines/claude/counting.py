"""Counting Claude's tokens: input excludes the cache, and some counters run on over resumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mufakat.core.talk import usage as usages
from mufakat.core.talk.usage import Usage
from mufakat.engines import fields


def of_message(usage: Mapping[str, object]) -> Usage:
    """Usage in the words of the Messages API."""
    return Usage(
        fresh=fields.count(usage, "input_tokens"),
        cache_read=fields.count(usage, "cache_read_input_tokens"),
        cache_write=fields.count(usage, "cache_creation_input_tokens"),
        output=fields.count(usage, "output_tokens"),
    )


def of_models(result: Mapping[str, object]) -> Usage:
    """The sum over every model of a result, sub-agents and helpers included, with its cost."""
    total = Usage()
    for row in fields.table(result, "modelUsage").values():
        part = Usage(
            fresh=fields.count(row, "inputTokens"),
            cache_read=fields.count(row, "cacheReadInputTokens"),
            cache_write=fields.count(row, "cacheCreationInputTokens"),
            output=fields.count(row, "outputTokens"),
        )
        total = usages.plus(total, part)
    cost = fields.number(result, "total_cost_usd")
    return usages.plus(total, Usage(cost=cost)) if cost is not None else total


@dataclass(slots=True)
class Meter:
    """Tokens by message while they come, for a turn that ends without a result."""

    by_message: dict[str, Usage] = field(default_factory=dict)
    current: str = ""

    @property
    def so_far(self) -> Usage:
        """The sum over the messages of this turn."""
        total = Usage()
        for part in self.by_message.values():
            total = usages.plus(total, part)
        return total

    def start(self, message: Mapping[str, object]) -> None:
        """A message began; its input is known."""
        self.current = fields.text(message, "id")
        self.seen(message)

    def grow(self, usage: Mapping[str, object]) -> None:
        """The growing message's output so far."""
        known = self.by_message.get(self.current)
        if known:
            output = fields.count(usage, "output_tokens")
            self.by_message[self.current] = Usage(
                known.fresh, known.cache_read, known.cache_write, max(output, known.output)
            )

    def seen(self, message: Mapping[str, object]) -> None:
        """A message came with its first count; several events share one message."""
        id_ = fields.text(message, "id")
        if id_ not in self.by_message:
            self.by_message[id_] = of_message(fields.table(message, "usage"))

    def settle(self, result: Mapping[str, object] | None, before: Usage) -> tuple[Usage, Usage]:
        """The usage of this turn alone, and the session's counters after it."""
        own = of_message(fields.table(result, "usage")) if result else self.so_far
        total = of_models(result) if result else Usage()
        if total.total == 0:
            return own, usages.plus(before, own)
        spent = usages.since(before, total)
        # Older versions count per process: then the difference is less than the turn itself.
        if spent.total < own.total:
            spent = total
        return spent, total if total.total >= before.total else before
