"""Standing in the queue: as long as the request does, and not one moment longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from mufakat.core.base import Millis, Revision
from mufakat.core.coordination import lease_queue
from mufakat.core.coordination.lease import Book, Waiter
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination.lease_steps import Reply

LATE = 0.1
"""Seconds that are left to the timer before a request does what is due itself."""

Ask = Callable[[Transaction], Reply]
Claim = Callable[[Transaction, Waiter], Reply]
Withdraw = Callable[[Transaction, Waiter], None]


@dataclass(frozen=True, slots=True)
class Look:
    """What a waiting request sees, and how many seconds it may sleep where nothing is to do."""

    head: Revision
    ready: bool
    pause: float = 0.0


class Line:
    """Keeps requests waiting; each leaves the queue together with its caller."""

    def __init__(self, store: Store, withdraw: Withdraw) -> None:
        """`withdraw` takes an entry out in one step."""
        self._store = store
        self._withdraw = withdraw
        self._leaving: set[asyncio.Task[None]] = set()

    async def enter(self, ask: Ask, claim: Claim) -> Reply:
        """Ask in one step, and where that puts an entry into the queue, wait until its turn.

        `claim` says in one step what became of an entry.
        """
        asked = asyncio.ensure_future(self._store.write(ask))
        try:
            answer = await asyncio.shield(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(self._forgotten)
            raise
        return await self._wait(answer, claim) if isinstance(answer, Waiter) else answer

    async def _wait(self, entry: Waiter, claim: Claim) -> Reply:
        done = False
        try:
            while True:
                answer = await self._next(entry, claim)
                if not isinstance(answer, Waiter):
                    done = True
                    return answer
                entry = answer
        finally:
            if not done:
                # Whoever cancelled the request may cancel this wait for the step too.
                await asyncio.shield(self._leave(entry))

    async def _next(self, entry: Waiter, claim: Claim) -> Reply:
        while True:
            seen = await self._store.read(lambda tx: look(tx, entry))
            if seen.ready:
                return await self._store.write(lambda tx: claim(tx, entry))
            await self._store.wait(seen.head, seconds=seen.pause)

    def _leave(self, entry: Waiter) -> asyncio.Task[None]:
        task = asyncio.create_task(self._store.write(lambda tx: self._withdraw(tx, entry)))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
        return task

    def _forgotten(self, asked: asyncio.Future[Reply]) -> None:
        """Take out what was put into the queue while its caller went away."""
        if not asked.cancelled() and asked.exception() is None:
            answer = asked.result()
            if isinstance(answer, Waiter):
                self._leave(answer)


def look(tx: Transaction, entry: Waiter) -> Look:
    """Whether there is something to do for an entry; the data come from the store alone."""
    now, head = tx.now(), tx.events.head()
    book = Book(tx.leases.live(), tx.leases.waiters())
    queued = any(one.id == entry.id for one in book.waiters)
    due = min(entry.until, tx.leases.earliest() or entry.until)
    overdue = due + LATE * 1000 <= now
    if not queued or entry.until <= now or overdue or _stuck(tx, entry, book, now):
        return Look(head, True)
    late = LATE if due < entry.until else 0.0
    return Look(head, False, max(0.001, (due - now) / 1000 + late))


def _stuck(tx: Transaction, entry: Waiter, book: Book, now: Millis) -> bool:
    # Only who holds something can be waited for.
    own = tx.leases.of(entry.wanted.holder)
    return bool(own) and lease_queue.stuck(entry, book, now) is not None
