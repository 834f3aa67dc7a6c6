"""Connections that stand for sessions: while one is open its agent is there, and cut it is missed.

The log says who held one, so that a server that was killed misses them after its next start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from mufakat.core.base import Event, LoggedEvent, Millis, Revision
from mufakat.core.coordination import presence
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.presence import Cut
from mufakat.core.coordination.principal import Principal
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import agents

CONNECTED, DISCONNECTED = "agent.connected", "agent.disconnected"
EVERYBODY = 10_000
OVER_MS = 30 * presence.GRACE_MS
"""A cut so old has been acted on."""


class Presence:
    """The sessions that hold a connection to this server, and those whose last one was cut."""

    def __init__(self, store: Store, *, server: str) -> None:
        self._store = store
        self._server = server
        """Tells the log's entries of this server from those of others on the same store."""
        self._open: Counter[tuple[str, int]] = Counter()
        self._cuts: dict[str, Cut] = {}

    async def recover(self) -> None:
        """Miss those whose connection ended with the server before this one."""
        self._cuts |= await self._store.write(self._missed)

    @asynccontextmanager
    async def hold(self, by: Principal, *, closing: Callable[[], bool]) -> AsyncIterator[None]:
        """Hold a connection of a session; its end says nothing where the server is `closing`."""
        session = (by.identity, by.epoch)
        self._open[session] += 1
        self._cuts.pop(by.identity, None)
        try:
            if self._open[session] == 1:
                await self._store.write(partial(self._note, kind=CONNECTED, by=session))
            yield
        finally:
            self._open[session] -= 1
            if not self._open[session]:
                del self._open[session]
                if not closing():
                    await self._cut(session)

    async def _cut(self, session: tuple[str, int]) -> None:
        found = await self._store.write(partial(self._disconnect, by=session))
        if found is None or session in self._open:
            return
        self._cuts = {
            name: one for name, one in self._cuts.items() if found.at - one.at < OVER_MS
        } | {session[0]: found}

    def lost_at(self, there: Instance) -> Millis | None:
        """When an agent whose connection was cut is lost; None for everybody else."""
        cut = self._cuts.get(there.identity)
        return None if cut is None else presence.lost_at(there, cut)

    def _disconnect(self, tx: Transaction, *, by: tuple[str, int]) -> Cut | None:
        name, epoch = by
        there = tx.instances.get(name)
        suspected = there is not None and presence.goes_on(there, epoch)
        if there is None or not suspected or agents.ours(there):
            self._note(tx, kind=DISCONNECTED, by=by)
            return None
        expected = agents.expect(tx, there)
        self._note(tx, kind=DISCONNECTED, by=by, seen=expected.seen)
        return Cut(epoch, tx.now(), expected.seen)

    def _note(
        self, tx: Transaction, *, kind: str, by: tuple[str, int], seen: Millis | None = None
    ) -> None:
        name, epoch = by
        there = tx.instances.get(name)
        data = {"epoch": epoch, "server": self._server, "project": there and there.project}
        if seen is not None:
            data["seen"] = seen
        tx.cursors.keep(_place(name), tx.events.record(Event(kind, name, data)))

    def _missed(self, tx: Transaction) -> dict[str, Cut]:
        found = {}
        for there in tx.instances.list(online=True, limit=EVERYBODY):
            last = _newest(tx, there.identity)
            cut = self._again(tx, there, last) if last is not None else None
            if cut is not None:
                found[there.identity] = cut
        return found

    def _again(self, tx: Transaction, there: Instance, last: LoggedEvent) -> Cut | None:
        """The cut of a session that this server had before, its grace begun anew."""
        epoch = int(last.data["epoch"])
        if last.data["server"] != self._server:
            return None
        if last.kind == CONNECTED:
            return self._disconnect(tx, by=(there.identity, epoch))
        if "seen" not in last.data:
            return None
        cut = Cut(epoch, tx.now(), Millis(last.data["seen"]))
        return cut if presence.lost_at(there, cut) is not None else None


def _place(name: str) -> str:
    return f"presence/{name}"


def _newest(tx: Transaction, name: str) -> LoggedEvent | None:
    """The newest word of the log on an agent's connections."""
    at = tx.cursors.get(_place(name))
    found = tx.events.after(Revision(at - 1), limit=1, subject=name) if at else ()
    kinds = (CONNECTED, DISCONNECTED)
    return found[0] if found and found[0].revision == at and found[0].kind in kinds else None
