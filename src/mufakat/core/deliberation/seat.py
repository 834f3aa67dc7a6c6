"""A seat: one agent's place at a roundtable, under a letter that stays its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from mufakat.core import text
from mufakat.core.base import AgentId, InvalidInput

LETTERS = "ABCDEFGH"
LEAST, MOST = 2, len(LETTERS)
STANCE_CHARS = 200
_WANTED = re.compile(r"([a-z0-9][a-z0-9_-]{0,31})(?::([^=\s]{1,120}))?(?:=(.*))?", re.DOTALL)


class Standing(StrEnum):
    """Whether a seat still takes part."""

    ACTIVE = "active"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A seat as it is asked for; empty fields take the engine's defaults."""

    engine: str
    model: str = ""
    stance: str = ""
    """What the seat is asked to argue for; empty leaves it free."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A seat that is taken."""

    label: str
    engine: str
    model: str
    stance: str
    vendor: str
    """Who makes the model."""
    agent: AgentId
    identity: str
    standing: Standing = Standing.ACTIVE
    why: str = ""
    """Why it was dropped."""

    @property
    def active(self) -> bool:
        return self.standing is Standing.ACTIVE


def parse(spec: str) -> Wanted:
    """Read `ENGINE`, `ENGINE:MODEL`, `ENGINE=STANCE` or `ENGINE:MODEL=STANCE`."""
    found = _WANTED.fullmatch(spec.strip())
    if found is None:
        raise InvalidInput(
            f"{text.one_line(spec, 60)!r} names no seat.",
            fix="Write ENGINE, ENGINE:MODEL or ENGINE:MODEL=STANCE.",
        )
    return Wanted(found[1], found[2] or "", text.one_line(text.clean(found[3] or ""), STANCE_CHARS))


def check(wanted: Sequence[Wanted]) -> None:
    """Raise InvalidInput unless as many seats are asked for as a table can have."""
    if not LEAST <= len(wanted) <= MOST:
        raise InvalidInput(
            f"A roundtable has {LEAST} to {MOST} seats, not {len(wanted)}.",
            fix="Name each with -a, for example: -a claude -a codex",
        )
