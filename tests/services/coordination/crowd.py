"""Agents over a real store, for tests of who joins, what they report and what follows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mufakat.core.base import LoggedEvent, Revision
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On, Report, State
from mufakat.core.secrets import scrub
from mufakat.engines.process.watch import LocalProcesses
from mufakat.ports.store import Store
from mufakat.services.coordination import credentials
from mufakat.services.coordination.act import Outside
from mufakat.services.coordination.agents import Joined, Joining
from mufakat.services.coordination.joining import Agents
from mufakat.services.coordination.states import States
from mufakat.services.coordination.timer import Timer
from mufakat.services.coordination.waiting import Waiting
from mufakat.services.request import Ask
from mufakat.storage.store import open_store

HOST, PERSON = "box", "human@box:000001"
JOIN_TOKEN = credentials.new()
JOINER = Principal(Right.JOIN)


@dataclass
class Crowd:
    """A store with everything that keeps agents together, but no door and no engine."""

    store: Store
    project: Path
    agents: Agents
    states: States
    waiting: Waiting
    asked: list[tuple[Ask, str]] = field(default_factory=list)
    """What rules have enqueued, each with its key."""

    @property
    def person(self) -> Principal:
        return self.agents.operator

    async def join(self, engine: str = "codex", **more: object) -> tuple[Principal, Instance]:
        """Let a session join; answers as whom it calls from then on."""
        joined = await self.joined(engine, **more)
        return await self.agents.authenticate(joined.token), joined.instance

    async def joined(self, engine: str = "codex", **more: object) -> Joined:
        wanted = {"project": str(self.project), **more}
        return await self.agents.join(JOINER, Joining(engine, **wanted))  # type: ignore[arg-type]

    async def report(self, by: Principal, to: State, **more: object) -> Instance:
        """Report a state of the caller itself."""
        on = {State.BLOCKED: On.LEASE, State.OFFLINE: On.EXITED}.get(to)
        report = Report(to, **{"on": on, **more})  # type: ignore[arg-type]
        return await self.states.report(by, by.identity, report)

    async def now(self, name: str) -> Instance:
        return await self.agents.get(name)

    async def events(self, *kinds: str) -> list[LoggedEvent]:
        query = self.store.read(lambda tx: tx.events.after(Revision(0), limit=10_000, kinds=kinds))
        return list(await query)

    def timer(self, **more: object) -> Timer:
        """A timer that remembers what rules enqueue."""

        async def enqueue(ask: Ask, key: str) -> None:
            self.asked.append((ask, key))

        ways = {"host": HOST, "outside": Outside(enqueue), **more}
        return Timer(self.store, LocalProcesses(), **ways)  # type: ignore[arg-type]


async def eventually(true: Callable[[], object], *, seconds: float = 10) -> None:
    """Wait until something is so; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while True:
            found = true()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return
            await asyncio.sleep(0.01)


def gather(store: Store, project: Path) -> Crowd:
    """Everything over an open store."""
    digest = credentials.digest(JOIN_TOKEN)
    agents = Agents(store, LocalProcesses(), host=HOST, person=PERSON, join_digest=digest)
    return Crowd(store, project, agents, States(store), Waiting(store, scrub))


@asynccontextmanager
async def crowd_in(home: Path, project: Path) -> AsyncIterator[Crowd]:
    """A crowd in a home, as it is after a start of the server."""
    store = await open_store(home / "mufakat.db")
    try:
        crowd = gather(store, project)
        await crowd.agents.prepare()
        yield crowd
    finally:
        await store.close()
