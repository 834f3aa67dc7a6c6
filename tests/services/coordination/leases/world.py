"""The store under random histories: shared by all of a run, emptied before each of them."""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from equipment.store_records import Readings
from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Cause, Lease, Waiter
from mufakat.core.coordination.state import Standing, State
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import agents
from mufakat.storage.store import open_store
from services.coordination.leases import model

T = TypeVar("T")
HOLDERS = tuple(f"codex@box:{number:06x}" for number in range(1, 4))


class World:
    """One store that all histories of a run share; each begins with empty hands."""

    def __init__(self, home: Path, runner: asyncio.Runner) -> None:
        self._path = home / "mufakat.db"
        self._runner = runner
        self.readings = Readings()
        self.counters: dict[str, int] = {}
        """The newest fence of every resource, over all histories."""
        self.store = self._open()
        self.write(_enrol)
        first = self.write(lambda tx: tx.leases.next_fence("task:other"))
        self.counters |= dict.fromkeys(model.RESOURCES, first - 1)

    def _open(self) -> Store:
        return self._runner.run(open_store(self._path, readings=self.readings, reserve_bytes=0))

    def write(self, step: Callable[[Transaction], T]) -> T:
        return self._runner.run(self.store.write(step))

    def read(self, query: Callable[[Transaction], T]) -> T:
        return self._runner.run(self.store.read(query))

    def reopen(self) -> None:
        self.close()
        self.store = self._open()

    def close(self) -> None:
        self._runner.run(self.store.close())


def _enrol(tx: Transaction) -> None:
    for number, name in enumerate(HOLDERS, start=1):
        standing = Standing(State.WORKING, tx.now())
        agents.register(tx, name, instance=f"{number:032x}", standing=standing)


def seen(tx: Transaction) -> tuple[Sequence[Lease], Sequence[Waiter], Millis]:
    """All that a step leaves behind."""
    return tx.leases.live(), tx.leases.waiters(), tx.now()


def empty(tx: Transaction) -> None:
    for lease in tx.leases.live():
        over = dataclasses.replace(lease, ended=tx.now(), cause=Cause.REVOKED, locked_until=None)
        tx.leases.keep(over)
    for waiter in tx.leases.waiters():
        tx.leases.dequeue(waiter.id)


@contextmanager
def world() -> Iterator[World]:
    """A store in a folder of its own."""
    with tempfile.TemporaryDirectory() as home, asyncio.Runner() as runner:
        made = World(Path(home) / "home", runner)
        try:
            yield made
        finally:
            made.close()
