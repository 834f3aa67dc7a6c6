"""Brings the index of what was said up to date: at once for a search, else in small steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from mufakat.core.base import ProjectId, Revision
from mufakat.core.knowledge import indexing
from mufakat.core.knowledge.indexing import Behind, Turn
from mufakat.ports.store import Store, Transaction

BATCH = 250
"""Messages that are indexed in one transaction while a search waits."""
FEW, FEW_TERMS = 8, 300
"""Messages, and terms of them, in one transaction while nobody waits: others write in between."""
REST = 2.0
"""After each of those, so many times as long as it took nothing is done."""


class Indexer:
    """Indexes the messages of a project that are not yet."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        """`clock` answers seconds; only how many pass is looked at."""
        self._store = store
        self._clock = clock
        self._seen: dict[ProjectId, Revision] = {}

    async def catch_up(self, project: ProjectId, *, seconds: float) -> int:
        """Index what was said since; answers how many messages are still left over."""
        head = await self._store.glance(lambda tx: tx.events.head())
        if self._seen.get(project) == head:
            return 0
        end = self._clock() + seconds
        while True:
            behind, batch = await self._store.read(lambda tx: _next_batch(tx, project))
            if not batch:
                self._seen[project] = head
                return 0
            await self._store.write(partial(_keep, batch=batch))
            done = sum(len(turns) for _, turns in batch)
            if self._clock() >= end:
                return behind - done

    async def keep_up(self, project: ProjectId) -> None:
        """Index all that is left over, a little at a time, so that no writer waits for long."""
        while True:
            head, behind = await self._store.read(lambda tx: _left(tx, project))
            if not behind:
                self._seen[project] = head
                return
            for one in behind:
                await self._one(one)

    async def _one(self, behind: Behind) -> None:
        while behind.indexed < behind.messages:
            turns = await self._store.read(partial(_few, behind=behind))
            if not turns:
                return
            began = self._clock()
            added = await self._store.write(partial(_add, behind=behind, turns=turns))
            await asyncio.sleep(REST * (self._clock() - began))
            if not added:
                # Somebody else indexes it too, and was faster.
                return
            behind = replace(behind, indexed=turns[-1].number)


def _left(tx: Transaction, project: ProjectId) -> tuple[Revision, Sequence[Behind]]:
    return tx.events.head(), tx.recall.behind(project, limit=BATCH)


def _few(tx: Transaction, behind: Behind) -> list[Turn]:
    """The next messages of a conversation, the words of which are counted outside of the writer."""
    return list(_within(_turns(tx, behind, FEW)))


def _within(turns: Sequence[Turn]) -> Iterator[Turn]:
    left = FEW_TERMS
    for one in turns:
        if left <= 0:
            return
        left -= len(one.terms)
        yield one


def _turns(tx: Transaction, behind: Behind, limit: int) -> list[Turn]:
    page = tx.messages.page(behind.conversation, after=behind.indexed, limit=limit)
    return [indexing.turn(message, behind.fence) for message in page]


def _add(tx: Transaction, behind: Behind, turns: Sequence[Turn]) -> bool:
    return tx.recall.add(behind, turns)


def _next_batch(tx: Transaction, project: ProjectId) -> tuple[int, list[tuple[Behind, list[Turn]]]]:
    """How many messages are not indexed, of the conversations at hand, and the next of them."""
    left = BATCH
    batch = []
    behind = tx.recall.behind(project, limit=BATCH)
    for one in behind:
        if left <= 0:
            break
        turns = _turns(tx, one, left)
        batch.append((one, turns))
        left -= len(turns)
    return sum(one.messages - one.indexed for one in behind), batch


def _keep(tx: Transaction, batch: Sequence[tuple[Behind, Sequence[Turn]]]) -> None:
    for behind, turns in batch:
        tx.recall.add(behind, turns)
