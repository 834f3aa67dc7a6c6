"""The loop of work that follows the log: all once at its start, then what is new, for ever."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from mufakat.core.base import ConversationId, LoggedEvent, MufakatError, Revision

log = logging.getLogger(__name__)
QUIET = 60.0
"""Seconds without a look where nothing happens."""
AGAIN = 15.0
"""Seconds until what failed is tried again."""
PAGE = 500
"""Events that are looked at in one read."""


class LogFollower:
    """One task; `begin` and `follow` answer how far the log was dealt with."""

    def __init__(
        self,
        name: str,
        begin: Callable[[], Awaitable[Revision]],
        follow: Callable[[Revision], Awaitable[Revision]],
    ) -> None:
        self._name = name
        self._begin = begin
        self._follow = follow
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def _run(self) -> None:
        at: Revision | None = None
        while True:
            try:
                at = await self._begin() if at is None else await self._follow(at)
            except MufakatError as problem:
                log.warning("%s: %s", self._name, problem)
                await asyncio.sleep(AGAIN)
            except Exception:
                # A fault in one record must not end all the work for as long as we run.
                log.exception("%s failed", self._name)
                await asyncio.sleep(AGAIN)


def conversations(events: Iterable[LoggedEvent]) -> list[ConversationId]:
    """Where they happened, each conversation once, in order."""
    named = (str(one.data.get("conversation", "")) for one in events)
    return list(dict.fromkeys(ConversationId(id) for id in named if id))
