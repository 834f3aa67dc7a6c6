"""LangChain's `trim_messages`: the newest messages that fit, behind one system message.

Its counter is the caller's: here the cheapest there is, a sum of lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.utils import trim_messages

from bench.case import PERSON, Case

Counter = Callable[[list[BaseMessage]], int]

FRAME = 2
"""Characters between two messages when they are joined to one text."""


class Contender:
    """The messages stay in memory, as the library has no store for them."""

    version = f"langchain-core {metadata.version('langchain-core')}"

    def __init__(self, counter: Counter | None = None) -> None:
        self._counter = counter or count

    def prepare(self, given: Case) -> None:
        """Build the library's messages once."""
        told = "\n".join(text for _, items in given.sections for text in items)
        self._messages: list[BaseMessage] = [SystemMessage(told)]
        for said in given.messages:
            kind = HumanMessage if said.speaker == PERSON else AIMessage
            self._messages.append(kind(said.text, name=said.speaker))
        self._prompt = given.prompt
        self._room = given.budget - len(given.prompt) - FRAME

    def run(self) -> str:
        """Trim to the budget, the system message kept."""
        kept = trim_messages(
            self._messages,
            max_tokens=self._room,
            token_counter=self._counter,
            strategy="last",
            include_system=True,
        )
        parts = [f"{one.name}: {one.content}" if one.name else one.content for one in kept]
        return "\n\n".join([*parts, self._prompt])


def count(messages: list[BaseMessage]) -> int:
    """Characters of the messages as `run` joins them."""
    return sum(len(one.content) + len(one.name or "") + 2 + FRAME for one in messages)
