"""Section `platform`: the rules of the room."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust


def render(facts: Facts) -> Sequence[Item]:
    """One item: the rules, with the fence that marks quoted text named."""
    rules = facts.platform.strip().replace("{fence}", facts.history.fence)
    return [Item("platform", "platform.md", Trust.PLATFORM, ((Resolution.FULL, rules),))]
