"""The shapes of waiting for agents and of reactions to their states."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.core.coordination.waiting import Action
from mufakat.server.http.schemas.agents import STATE, Agent
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body


class Condition(Body):
    """Agents that must be in one of the states."""

    who: Annotated[str, Field(min_length=1, max_length=200)]
    """Identity, unique prefix, alias or `role:…`."""
    states: Annotated[list[STATE], Field(min_length=1, max_length=5)]
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 0
    """For so long without a break."""


class NewReaction(Body):
    """What is to be done when a condition holds."""

    condition: Condition
    action: Annotated[Action, Field(strict=False)]
    data: Annotated[
        dict[
            Annotated[str, Field(min_length=1, max_length=64)],
            Annotated[str, Field(max_length=65_536)],
        ],
        Field(max_length=16),
    ] = Field(default_factory=dict)
    """Arguments of the action."""
    once: bool = True


class WaitFor(Body):
    """Conditions to wait for: every one of them, or any."""

    conditions: Annotated[list[Condition], Field(min_length=1, max_length=32)]
    every: bool = True
    seconds: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = 60


class Met(Answer):
    """Whether it came to be, and the agents as they are."""

    met: bool
    agents: list[Agent]


class Watched(Answer):
    """A condition as it is stored."""

    who: str
    states: list[str]
    seconds: float


class Reaction(Answer):
    """A stored rule."""

    id: str
    project: str
    owner: str
    condition: Watched
    action: str
    data: dict[str, str]
    once: bool
    created: str
    fired: int
    """How often, as far as it is kept."""
    done: bool
