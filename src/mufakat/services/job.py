"""A job: a queued turn with everything that its run needs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from mufakat.core.base import NotFound
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Message
from mufakat.core.talk.turn import Turn
from mufakat.ports.engine import Engine
from mufakat.ports.store import Transaction
from mufakat.services import request, talk
from mufakat.services.packing import Packed
from mufakat.services.request import Ask

Brief = Callable[["Job", Engine, str], Awaitable[Packed]]
"""Makes the pack of a job for an engine; the text is the nonce of the run."""


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a turn's run needs; setting `cancel` ends it at any time."""

    turn: Turn
    ask: Ask
    conversation: Conversation
    agent: Agent
    prompt: Message
    cancel: asyncio.Event
    copied: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the engine has begun: a session that was to be copied has been."""
    brief: Brief | None = None
    """Makes the pack where a job beyond the turn knows what is to be told."""


def of(tx: Transaction, turn: Turn) -> Job:
    """The job of a stored turn; all of it is in the store, so that a restart can make it too."""
    agent, prompt = tx.agents.get(turn.agent), tx.messages.get(turn.prompt)
    if agent is None or prompt is None:
        raise NotFound(f"The turn {turn.id} has lost its agent or its prompt.")
    conversation = talk.resolve(tx, turn.conversation)
    ask = request.from_json(turn.options, prompt.text)
    return Job(turn, ask, conversation, agent, prompt, asyncio.Event())
