"""Section `coordination`: what is new for the agent; the very text that its hooks would get."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote
from mufakat.core.coordination import digest
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust

KIND = "coordination"
BUDGET = digest.TOOL_BUDGET - quote.frame_chars(KIND)
"""Characters of its text: a digest for a tool call, less the section's marks."""


def render(facts: Facts) -> Sequence[Item]:
    """One item, never shortened: half of it would count as shown and be read by nobody."""
    text = facts.digest.text if facts.digest else ""
    if not text:
        return []
    return [Item(KIND, "store", Trust.PEER, ((Resolution.FULL, text),))]
