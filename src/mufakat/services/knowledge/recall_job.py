"""The task that indexes what was said once nobody says more, so that no search waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from mufakat.core.base import ProjectId, Revision
from mufakat.ports.store import Store, Transaction
from mufakat.services.knowledge.log_follower import PAGE, QUIET, LogFollower, conversations
from mufakat.services.knowledge.recall import Recall

log = logging.getLogger(__name__)
KINDS = ("message.added",)
SETTLED = 0.5
"""Seconds without a new message, after which those that came are indexed."""
LONGEST = 5.0
"""Seconds that messages wait at most where new ones never cease."""


class RecallJob:
    """One task: all projects at its start, then those in which something was said.

    What is left to do stands in the store, so that nothing is lost with this process; several
    servers of one store may do the same twice, and only the first of them adds it.
    """

    def __init__(self, store: Store, recall: Recall) -> None:
        self._store = store
        self._recall = recall
        self._follower = LogFollower("recall", self._begin, self._follow)

    def start(self) -> None:
        """Begin."""
        self._follower.start()

    async def close(self) -> None:
        """Stop; what is left over is done after the next start, or by a search."""
        await self._follower.close()

    async def _begin(self) -> Revision:
        """Index every project; answers where in the log to go on."""
        await asyncio.sleep(SETTLED)
        head, projects = await self._store.read(
            lambda tx: (tx.events.head(), [one.id for one in tx.projects.list()])
        )
        for project in projects:
            await self._recall.keep_up(project)
        return head

    async def _follow(self, at: Revision) -> Revision:
        """Wait until something was said and nobody goes on, then index it; how far that is."""
        head, projects, more = await self._store.read(lambda tx: _news(tx, at))
        if head == at:
            await self._store.wait(at, seconds=QUIET)
            return at
        if not projects:
            # What happens beside talk, such as the pieces of a stream, is passed over in strides.
            await asyncio.sleep(SETTLED)
            return head
        head, projects = await self._settled(head, projects)
        for project in projects:
            await self._recall.keep_up(project)
        return more or head

    async def _settled(
        self, head: Revision, projects: Sequence[ProjectId]
    ) -> tuple[Revision, list[ProjectId]]:
        """Wait until nothing more is said, but not for ever; how far the log is then, and where."""
        every = dict.fromkeys(projects)
        end = asyncio.get_running_loop().time() + LONGEST
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(SETTLED)
            at, (head, fresh, more) = head, await self._store.read(partial(_news, at=head))
            every |= dict.fromkeys(fresh)
            if more is not None:
                # There is more than was looked at.
                return at, list(every)
            if not fresh:
                break
        return head, list(every)


def _news(tx: Transaction, at: Revision) -> tuple[Revision, list[ProjectId], Revision | None]:
    """The log's head, the projects in which something was said, and where to go on before it."""
    events = tx.events.after(at, limit=PAGE, kinds=KINDS)
    named = conversations(events)
    homes = [tx.conversations.get(id) for id in named]
    projects = dict.fromkeys(one.project for one in homes if one)
    more = events[-1].revision if len(events) == PAGE else None
    return tx.events.head(), list(projects), more
