"""On whose authority a call is made: taken from its credential, never from its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mufakat.core.coordination import identity


class Right(StrEnum):
    """What kind of credential it is."""

    OPERATOR = "operator"
    """The person of this home; may do everything."""
    AGENT = "agent"
    """One instance, acting for itself alone."""
    JOIN = "join"
    """May join, and be a hook of a session that joins by it; nothing else."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls."""

    right: Right
    identity: str = ""
    """Empty for a joiner."""
    epoch: int = 0
    run: str = ""

    @property
    def operator(self) -> bool:
        return self.right is Right.OPERATOR

    def acts_for(self, name: str) -> bool:
        """Whether it may speak and act as `name`: itself, its sub-agents, the operator anybody."""
        match self.right:
            case Right.OPERATOR:
                return True
            case Right.AGENT:
                return bool(self.identity) and self.identity in {name, identity.owner(name)}
            case Right.JOIN:
                return False
