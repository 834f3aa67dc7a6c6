"""Tells in the event log how far a long indexing is; a short one leaves no line there."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from mufakat.core.base import Event, MufakatError
from mufakat.ports.knowledge import CodeIndex, Standing
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.services import announce

log = logging.getLogger(__name__)
LONG = 500
"""Files to read from which on it is told."""
EVERY = 2.0
"""Seconds between two lines."""
LOOK = 0.5


class IndexNews:
    """One task for each project whose index is being made."""

    def __init__(
        self, store: Store, index: CodeIndex, scrub: Scrub, *, every: float = EVERY
    ) -> None:
        self._store = store
        self._index = index
        self._scrub = scrub
        self._every = every
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def follow(self, project: str, root: Path, state: Standing) -> None:
        """Tell of a project's index until it is made; nothing where none is being made."""
        if state.running and project not in self._tasks:
            task = asyncio.create_task(self._follow(project, root))
            self._tasks[project] = task
            task.add_done_callback(lambda _: self._tasks.pop(project, None))

    async def close(self) -> None:
        """Stop telling."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, project: str, root: Path) -> None:
        told, left = -1, 0.0
        try:
            while (state := await self._index.standing(root)).running:
                if state.of >= LONG and left <= 0 and state.done != told:
                    told, left = state.done, self._every
                    await self._tell(project, "index.progress", done=state.done, of=state.of)
                await asyncio.sleep(LOOK)
                left -= LOOK
            if told >= 0:
                await self._tell(
                    project,
                    "index.ended",
                    files=state.files,
                    complete=state.complete,
                    error=state.error,
                )
        except MufakatError as problem:
            log.warning("the index of %s is not told of: %s", project, problem)

    async def _tell(self, project: str, kind: str, **data: object) -> None:
        event = Event(kind, project, announce.clean({"project": project, **data}, self._scrub))
        await self._store.write(lambda tx: tx.events.record(event))
