"""The job that keeps memories up to date after turns; what it has to do stands in the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from mufakat.core.base import ConversationId, LoggedEvent, MufakatError, Revision
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.store import Store, Transaction
from mufakat.services.knowledge.log_follower import PAGE, QUIET, LogFollower, conversations
from mufakat.services.knowledge.memory import Memory

log = logging.getLogger(__name__)
GATHER = 0.25
PAUSE = 0.25
"""Seconds between two parts: who sends a message does not wait behind all of them."""
KINDS = ("turn.ended", "message.added")


class MemoryJob:
    """One task: looks at every conversation at its start, then at those where something ended."""

    def __init__(self, store: Store, memory: Memory) -> None:
        self._store = store
        self._memory = memory
        self._follower = LogFollower("memory", self._begin, self._follow)

    def start(self) -> None:
        """Begin; what a killed server left undone is done first."""
        self._follower.start()

    async def close(self) -> None:
        """Stop; what is left undone is done after the next start."""
        self._memory.close()
        await self._follower.close()

    async def _begin(self) -> Revision:
        """Look at all conversations once; answers where in the log to go on."""
        head = await self._store.read(lambda tx: tx.events.head())
        before = ""
        while True:
            page = await self._store.read(partial(_page, before=before))
            await self._refresh([one.id for one in page])
            if len(page) < PAGE:
                return head
            before = page[-1].id

    async def _follow(self, at: Revision) -> Revision:
        """Wait for what is new in the log and look where it happened; answers how far that is."""
        head, events, concerned = await self._store.read(lambda tx: _news(tx, at))
        await self._refresh(concerned)
        if len(events) == PAGE:
            return events[-1].revision
        if head == at:
            await self._store.wait(head, seconds=QUIET)
            await asyncio.sleep(GATHER)
        return head

    async def _refresh(self, ids: Sequence[ConversationId]) -> None:
        for id in ids:
            try:
                if await self._memory.due(id):
                    await self._memory.refresh(id, pause=PAUSE)
            except MufakatError as problem:
                # Damage in one conversation is told, and the others go on.
                log.warning("the memory of %s was not brought up to date: %s", id, problem)


def _page(tx: Transaction, *, before: str) -> Sequence[Conversation]:
    return tx.conversations.list(before=before, limit=PAGE)


def _news(
    tx: Transaction, at: Revision
) -> tuple[Revision, Sequence[LoggedEvent], Sequence[ConversationId]]:
    events = tx.events.after(at, limit=PAGE, kinds=KINDS)
    busy = {one.conversation for one in tx.turns.unfinished()} if events else set()
    named = conversations(events)
    # While a turn runs nothing is condensed: its end is an event too.
    return tx.events.head(), events, [id for id in named if id not in busy]
