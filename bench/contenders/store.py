"""A real SQLite store that holds a made conversation, for the contenders of Mufakat."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bench.case import PERSON, Case, Said
from mufakat.core import secrets
from mufakat.core.base import AgentId, ConversationId
from mufakat.core.talk import message
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind
from mufakat.ports.store import Store, Transaction
from mufakat.retrieval.library import LocalLibrary
from mufakat.services import talk
from mufakat.services.packing import Packing
from mufakat.storage import store as storage

BATCH = 1_000
"""Messages in one transaction while the store is filled."""


async def filled(given: Case, home: Path) -> tuple[storage.SqliteStore, Conversation]:
    """Open a store in the empty folder `home` and keep the whole conversation in it."""
    store = await storage.open_store(home / "mufakat.db")

    def begin(tx: Transaction) -> Conversation:
        project = talk.ensure_project(tx, str(home), "made")
        added = talk.add(tx, project, given.prompt)
        for name in sorted({said.speaker for said in given.messages} - {PERSON}):
            engine = name.partition("@")[0]
            tx.agents.add(Agent(AgentId(f"a_{engine}"), added.id, name, engine, "", "", tx.now()))
        return added

    conversation = await store.write(begin)
    messages = iter(given.messages)
    while batch := list(islice(messages, BATCH)):
        await keep(store, conversation.id, batch)
    return store, conversation


async def keep(store: Store, conversation: ConversationId, batch: Sequence[Said]) -> None:
    """Keep messages in one transaction."""

    def step(tx: Transaction) -> None:
        for said in batch:
            kind = Kind.PERSON if said.speaker == PERSON else Kind.AGENT
            draft = message.draft(kind, said.speaker, text=said.text)
            talk.append(tx, conversation, draft)

    await store.write(step)


def packing(store: Store, home: Path, *, budget: int) -> Packing:
    """The service that a server asks for every pack."""
    return Packing(store, LocalLibrary(home), secrets.scrub, budget=budget, gather_seconds=1.0)
