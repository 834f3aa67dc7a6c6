"""Section `linked-sessions`: sessions linked to this conversation."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item
from mufakat.core.pack.sections import found


def render(facts: Facts) -> Sequence[Item]:
    """One item each, as they were found: best first."""
    return found.items(facts.linked, facts.history.fence)
