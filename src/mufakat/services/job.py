"""A job: a queued turn with everything that its run needs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from mufakat.core.base import NotFound
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Message
from mufakat.core.talk.turn import Turn
from mufakat.ports.store import Transaction
from mufakat.services import request, talk
from mufakat.services.request import Ask


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a turn's run needs; setting `cancel` ends it at any time."""

    turn: Turn
    ask: Ask
    conversation: Conversation
    agent: Agent
    prompt: Message
    cancel: asyncio.Event


def of(tx: Transaction, turn: Turn) -> Job:
    """The job of a stored turn; all of it is in the store, so that a restart can make it too."""
    agent, prompt = tx.agents.get(turn.agent), tx.messages.get(turn.prompt)
    if agent is None or prompt is None:
        raise NotFound(f"The turn {turn.id} has lost its agent or its prompt.")
    conversation = talk.resolve(tx, turn.conversation)
    ask = request.from_json(turn.options, prompt.text)
    return Job(turn, ask, conversation, agent, prompt, asyncio.Event())
