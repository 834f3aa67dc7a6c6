"""Who a hook speaks for: hooks name an engine's session, and seldom bring its own bearer."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.coordination import identity
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On, State
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import agents, rooms
from mufakat.services.coordination.agents import Joining
from mufakat.services.coordination.joining import Agents


@dataclass(frozen=True, slots=True)
class Known:
    """The instance of a session, as whom the hook acts."""

    by: Principal
    state: State
    """What it did until now."""
    token: str = ""
    """Its bearer, where it has just joined."""


class Sessions:
    """Finds the instance of an engine's session, or lets the session join."""

    def __init__(self, store: Store, everybody: Agents, *, host: str) -> None:
        self._store = store
        self._everybody = everybody
        self._host = host

    async def known(self, by: Principal, joining: Joining, *, starts: bool) -> Known | None:
        """As whom a hook of a session acts; None where its credential is another engine's.

        A session that `starts` joins, though it was there before; so does one that nobody knows.
        """
        if by.right is Right.AGENT:
            if by.run and by.identity.partition("@")[0] != identity.label(joining.engine, 24):
                return None
            if starts:
                await self._everybody.join(by, joining)
            present = await self._store.read(lambda tx: agents.known(tx, by.identity))
            return Known(by, present.standing.state)
        found = None if starts else await self._store.read(lambda tx: self._session(tx, joining))
        if found is not None:
            await self._everybody.heard(_acting(found))
            return Known(_acting(found), found.standing.state)
        joined = await self._everybody.join(by, joining)
        there = joined.instance
        await self._store.write(lambda tx: rooms.follow(tx, there))
        return Known(_acting(there), there.standing.state, token=joined.token)

    def _session(self, tx: Transaction, joining: Joining) -> Instance | None:
        host = identity.host_label(joining.host or self._host)
        engine = identity.label(joining.engine, 24)
        found = tx.instances.by_session(engine, host, session=joining.session)
        if found is None:
            return None
        # Who is only suspected to be gone goes on as the same session.
        there = agents.online(found) or found.standing.on is On.LOST
        return found if there else None


def _acting(there: Instance) -> Principal:
    return Principal(Right.AGENT, there.identity, epoch=there.epoch)
