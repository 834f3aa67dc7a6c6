"""The chat port: what posts into a team chat, and what can come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Posted:
    """It stands there; `stamp` is the chat's id of it, empty where the chat does not tell."""

    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Later:
    """It may have arrived or not; the same is to be sent again."""

    why: str
    seconds: float | None = None
    """As long as the chat asks to wait; None where it does not say."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It will not be taken as it is."""

    why: str
    lasting: bool = False
    """Nothing will be taken until somebody changes the settings or the channel."""


Outcome = Posted | Later | Refused


class Chat(Protocol):
    """Where posts go."""

    async def post(self, payload: Mapping[str, Any]) -> Outcome:
        """Post once; failures are answers."""
        ...
