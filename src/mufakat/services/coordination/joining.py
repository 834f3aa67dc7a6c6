"""Joining, coming back and leaving: how a session of any engine gets its name and its bearer."""

from __future__ import annotations

import dataclasses
import hmac
from collections.abc import Sequence

from mufakat.core.base import Conflict, Event, InvalidInput, NotAllowed, ProjectId
from mufakat.core.coordination import state
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On
from mufakat.ports.coordination import Life
from mufakat.ports.process import Processes
from mufakat.ports.store import Store, Transaction
from mufakat.services import request
from mufakat.services.coordination import admission, agents, credentials, leases, pause, states
from mufakat.services.coordination.agents import Joined, Joining


class Agents:
    """Everybody who takes part."""

    def __init__(
        self,
        store: Store,
        processes: Processes,
        *,
        host: str,
        person: str,
        join_digest: str = "",
    ) -> None:
        self._store = store
        self._processes = processes
        self._host = host
        self._person = person
        self._join_digest = join_digest

    @property
    def operator(self) -> Principal:
        """The person of this home, as whom the operator's token acts."""
        return Principal(Right.OPERATOR, self._person)

    async def prepare(self, *, alone: bool = True) -> None:
        """Let the person of this home take part; comes before all else at the server's start.

        `alone` is False where other servers use the store: their agents went on meanwhile.
        """

        def step(tx: Transaction) -> None:
            if alone:
                leases.grace(tx)
            agents.greet(tx, self._person)

        await self._store.write(step)

    async def authenticate(self, token: str) -> Principal:
        """Who calls with a bearer; raises Unauthenticated or Superseded.

        The operator's own token is the door's to compare.
        """
        if self._join_digest and hmac.compare_digest(credentials.digest(token), self._join_digest):
            return Principal(Right.JOIN)
        by, news = await self._store.glance(lambda tx: _calls(tx, token))
        if news:
            await self._store.write(lambda tx: _called(tx, by))
        return by

    async def heard(self, by: Principal) -> None:
        """Take a call for its agent's sign of life though another credential brought it."""
        if await self._store.read(lambda tx: _is_news(tx, by)):
            await self._store.write(lambda tx: _called(tx, by))

    async def join(self, by: Principal, joining: Joining) -> Joined:
        """Take a session in: the same session is the same instance again, one epoch further.

        An agent that has a credential keeps its name, and is told what it is. Raises
        InvalidInput, Conflict, NotFound.
        """
        admission.check(joining)
        folder = str(request.folder(joining.project)) if joining.project else ""
        joining = dataclasses.replace(self._bound(joining), project=folder)
        answer = await self._store.write(lambda tx: admission.join(tx, by, joining))
        if isinstance(answer, Conflict):
            # Raised only now: the log remembers the attempt.
            raise answer
        return answer

    def _bound(self, joining: Joining) -> Joining:
        """Keep a pid only with the start time that names its process on this machine."""
        host, boot = joining.host or self._host, self._processes.boot()
        if joining.pid <= 0 or joining.boot not in {"", boot}:
            return dataclasses.replace(joining, host=host)
        start = self._processes.start_of(joining.pid)
        here = start > 0 and joining.pid_start in {0, start}
        return dataclasses.replace(
            joining,
            host=host,
            boot=boot,
            pid=joining.pid if here else 0,
            pid_start=start if here else 0,
        )

    async def list(self, *, project: str = "", online: bool = False) -> Sequence[Instance]:
        """Everybody, or those of a project; whoever called last comes first."""
        place = ProjectId(project) if project else None
        found = await self._store.read(lambda tx: tx.instances.list(project=place, online=online))
        return [one for one in found if one.identity != pause.SYSTEM]

    async def get(self, name: str, *, project: ProjectId | None = None) -> Instance:
        """One instance by identity, alias or unique prefix; raises NotFound."""
        return await self._store.read(lambda tx: agents.resolve(tx, name, project=project))

    async def leave(self, by: Principal, name: str, *, cause: str = "exited") -> Instance:
        """End an instance: its bearers, its leases, its run. Raises NotFound, NotAllowed."""
        try:
            on = On(cause)
        except ValueError:
            on = On.ERROR
        if on not in state.GONE:
            raise InvalidInput("`cause` is exited, crashed or lost.")
        found = await self.get(by.identity if name == "me" else name)
        if found.engine in admission.OURS:
            raise InvalidInput("People do not leave their own home.", fix="Name an agent.")
        await agents.only_self(self._store, by, found.identity, act="leave")

        def step(tx: Transaction) -> Instance:
            tx.credentials.end(found.identity, Life.REVOKED)
            gone = states.depart(tx, found.identity, on)
            tx.events.record(Event("agent.left", gone.identity, {"cause": on.value}))
            return gone

        return await self._store.write(step)

    async def pause(self, by: Principal) -> bool:
        """Stop all agents: no new turns, no messages of theirs, runs lose their credentials."""
        return await self._switch(by, on=True)

    async def unpause(self, by: Principal) -> bool:
        """Let all agents go on."""
        return await self._switch(by, on=False)

    async def _switch(self, by: Principal, *, on: bool) -> bool:
        if not by.operator:
            raise NotAllowed()
        return await self._store.write(lambda tx: pause.switch(tx, by, on=on))

    async def paused(self) -> bool:
        """Whether all agents are paused."""
        return await self._store.read(pause.paused)


def _calls(tx: Transaction, token: str) -> tuple[Principal, bool]:
    """Who calls, and whether the call itself changes something."""
    by = credentials.principal(tx, token)
    return by, _is_news(tx, by)


def _is_news(tx: Transaction, by: Principal) -> bool:
    there, now = agents.known(tx, by.identity), tx.now()
    late = now - there.seen >= agents.SEEN_EVERY
    return late or there.standing.on is On.LOST or tx.leases.past_half(by.identity)


def _called(tx: Transaction, by: Principal) -> None:
    """A call is the sign of life: it renews what the caller holds, and nothing else beats."""
    agents.called(tx, states.back(tx, agents.known(tx, by.identity)))
    leases.touch(tx, by.identity)
