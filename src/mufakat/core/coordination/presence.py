"""What the end of a session's last connection means: a suspicion, and after a grace its loss."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import Millis
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.state import State

GRACE_MS = 20_000
"""In this time a session whose connection was cut may come back, or only call."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The end of the last connection of a session that had not left."""

    epoch: int
    at: Millis
    seen: Millis
    """When the session had called last, as the store knew it then."""


def goes_on(there: Instance, epoch: int) -> bool:
    """Whether a session has neither ended nor been superseded."""
    return there.epoch == epoch and there.standing.state is not State.OFFLINE


def lost_at(there: Instance, cut: Cut) -> Millis | None:
    """When a cut session is lost; None where it is over, or has called since."""
    if not goes_on(there, cut.epoch) or there.seen > cut.seen:
        return None
    return Millis(cut.at + GRACE_MS)
