"""How much an agent is told by default: three modes, chosen by the first rule that matches."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

LONG_CONVERSATION = 12
"""Messages of people and agents; tool results do not count."""


class Mode(IntEnum):
    """Ordered: a higher mode includes what the lower ones tell."""

    LITE = 0
    STANDARD = 1
    FULL = 2

    @property
    def label(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Choice:
    """A mode and the name of the rule that chose it."""

    mode: Mode
    reason: str


BY_HAND = frozenset({"user-override", "explicit-attachments"})
"""Reasons that a person gave; no habit overrules them."""


def choose(
    override: Mode | None,
    *,
    talk: int,
    has_plan: bool = False,
    attachments: bool = False,
    roundtable: bool = False,
) -> Choice:
    """Choose the mode; `talk` counts messages of people and agents before this request."""
    if override is not None:
        return Choice(override, "user-override")
    if attachments:
        return Choice(Mode.FULL, "explicit-attachments")
    if talk >= LONG_CONVERSATION:
        return Choice(Mode.STANDARD, "long-conversation")
    if has_plan:
        return Choice(Mode.STANDARD, "has-plan")
    if roundtable:
        return Choice(Mode.STANDARD, "roundtable")
    return Choice(Mode.LITE, "default")


def parse(text: str) -> Mode | None:
    """Read a mode's label; None where it is not one."""
    return {mode.label: mode for mode in Mode}.get(text.lower())
