"""What a section is: one row of the table that is the map of a pack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item
from mufakat.core.pack.mode import Mode


@dataclass(frozen=True, slots=True)
class Section:
    """One row; sizes in characters, marks included."""

    kind: str
    tier: int
    """0 always, 1 on a condition, 2 pulled."""
    render: Callable[[Facts], Sequence[Item]]
    """What there is to say, most worthy first; empty leaves the section out."""
    since: Mode | None = Mode.LITE
    """Lowest mode that tells it; None: no mode does."""
    when: Callable[[Conditions], str] | None = None
    """Why it is told in any mode; empty where its condition does not hold."""
    weight: float = 1.0
    floor: int = 0
    ceiling: int | None = None
    fixed: bool = False
    """Never cut."""
    about: str = ""
    """One line for the documentation."""
