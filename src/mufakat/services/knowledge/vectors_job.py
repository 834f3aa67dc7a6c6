"""The job that makes vectors of what was said; what it has to do stands in the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from mufakat.core.base import ProjectId, Revision, Unavailable
from mufakat.ports.store import Store, Transaction
from mufakat.services.knowledge.log_follower import AGAIN, PAGE, QUIET, LogFollower, conversations
from mufakat.services.knowledge.recall import Recall
from mufakat.services.knowledge.vectors import Vectors

log = logging.getLogger(__name__)
GATHER = 1.0
"""Seconds for which more is waited for: by then what was said is mostly indexed."""
PAUSE = 0.02
"""Seconds between two batches: who sends a message does not wait behind all of them."""
KINDS = ("message.added", "turn.ended")


class VectorsJob:
    """One task: fills every project at its start, then those where something was said."""

    def __init__(self, store: Store, recall: Recall, vectors: Vectors) -> None:
        self._store = store
        self._recall = recall
        self._vectors = vectors
        self._follower = LogFollower("vectors", self._begin, self._follow)
        self._todo: dict[ProjectId, None] = {}

    def start(self) -> None:
        """Begin; what a killed server left undone is done first."""
        self._follower.start()

    async def close(self) -> None:
        """Stop; what is left undone is done after the next start."""
        await self._follower.close()

    async def _begin(self) -> Revision:
        """Take every project in; answers where in the log to go on."""
        head, projects = await self._store.read(
            lambda tx: (tx.events.head(), [one.id for one in tx.projects.list()])
        )
        self._todo |= dict.fromkeys(projects)
        await self._fill()
        return head

    async def _follow(self, at: Revision) -> Revision:
        """Wait for what is new in the log, take in where it happened; answers how far that is."""
        if not self._todo and await self._store.wait(at, seconds=QUIET) > at:
            await asyncio.sleep(GATHER)
        head, projects = await self._store.read(lambda tx: _news(tx, at))
        self._todo |= dict.fromkeys(projects)
        await self._fill()
        return head

    async def _fill(self) -> None:
        """Work off the projects that were taken in; one stays until it is filled."""
        try:
            for project in list(self._todo):
                await self._recall.keep_up(project)
                left = 1
                while left:
                    left = await self._vectors.fill(project)
                    await asyncio.sleep(PAUSE)
                del self._todo[project]
        except Unavailable as problem:
            # Known and told with every answer; looked at again once it may be over.
            log.info("no vectors: %s", problem)
            await asyncio.sleep(self._vectors.rests or AGAIN)


def _news(tx: Transaction, at: Revision) -> tuple[Revision, Sequence[ProjectId]]:
    """How far the log is read then, and in which projects something was said."""
    events = tx.events.after(at, limit=PAGE, kinds=KINDS)
    named = conversations(events)
    threads = [tx.conversations.get(id) for id in named]
    projects = dict.fromkeys(one.project for one in threads if one is not None)
    head = events[-1].revision if len(events) == PAGE else tx.events.head()
    return head, list(projects)
