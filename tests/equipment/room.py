"""A room for hooks: a store, the services of coordination, and what hears hooks."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mufakat.core import secrets
from mufakat.core.base import LoggedEvent, Revision
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.flood import Rate, Rates
from mufakat.core.coordination.inbox import Letter
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.sending import Sending
from mufakat.engines.process.watch import LocalProcesses
from mufakat.ports.store import Store
from mufakat.server.hooks import translate
from mufakat.server.hooks.reception import Reception
from mufakat.services.coordination import credentials
from mufakat.services.coordination.agents import Joining
from mufakat.services.coordination.context import Context
from mufakat.services.coordination.gate import Gate
from mufakat.services.coordination.joining import Agents
from mufakat.services.coordination.leases import Leases
from mufakat.services.coordination.mailbox import Inbox
from mufakat.services.coordination.rulebook import Rulebook
from mufakat.services.coordination.sessions import Sessions
from mufakat.services.coordination.states import States
from mufakat.storage import store as storage

HOST, PERSON = "here", "human@here:000000"
JOINER, OPERATOR = Principal(Right.JOIN), Principal(Right.OPERATOR, PERSON)
JOIN_TOKEN = "join-token-of-a-room-0123456789"
WIDE = Rates(Rate(100_000, 1.0), Rate(100_000, 1.0))


@dataclass
class Room:
    """The services, and short ways to use them."""

    store: Store
    agents: Agents
    inbox: Inbox
    leases: Leases
    reception: Reception
    project: Path
    _keys: itertools.count[int] = field(default_factory=itertools.count)

    async def fire(
        self, engine: str, event: str, by: Principal = JOINER, **data: Any
    ) -> dict[str, Any]:
        """Let an engine's hook call, as the HTTP door would."""
        given: Mapping[str, Any] = {"session_id": "s-1", "cwd": str(self.project), **data}
        call = translate.read(engine, event, given)
        if call is None:
            return {}
        return translate.write(call, await self.reception.hear(by, call))

    async def join(self, engine: str = "codex", **more: Any) -> Instance:
        joining = Joining(engine, project=str(self.project), **more)
        return (await self.agents.join(JOINER, joining)).instance

    async def run(self, engine: str) -> tuple[Instance, str]:
        """An agent that Mufakat runs itself, and the token of its run."""
        joined = await self.join(engine)
        step = partial(credentials.issue, instance=joined, run=joined.standing.run)
        return joined, await self.store.write(step)

    async def send(self, to: str, body: str, *, by: Principal = OPERATOR, **more: Any) -> None:
        key = f"key-{next(self._keys)}"
        await self.inbox.send(by, Sending((to,), body=body, **more), key=key)

    async def lease(self, by: Principal, path: Path, **more: Any) -> Lease:
        return await self.leases.acquire(by, Request((f"file:{path}",), **more))

    async def everybody(self) -> Sequence[Instance]:
        found = await self.agents.list()
        return [one for one in found if one.identity != PERSON]

    async def one(self, engine: str) -> Instance:
        """The newest instance of an engine."""
        return next(one for one in await self.everybody() if one.engine == engine)

    async def letters(self, identity: str) -> Sequence[Letter]:
        return await self.inbox.read(acting(identity), open_only=False)

    async def events(self, *kinds: str) -> Sequence[LoggedEvent]:
        return await self.store.read(
            lambda tx: tx.events.after(Revision(0), limit=10_000, kinds=kinds)
        )


def acting(identity: str, epoch: int = 1) -> Principal:
    return Principal(Right.AGENT, identity, epoch)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Room]:
    """A room with a store of its own below `folder`."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    store = await storage.open_store(folder / "room.db", reserve_bytes=0)
    scrub = secrets.scrub
    digest = hashlib.sha256(JOIN_TOKEN.encode()).hexdigest()
    agents = Agents(store, LocalProcesses(), host=HOST, person=PERSON, join_digest=digest)
    leases = Leases(store, Rulebook(None), scrub=scrub)
    inbox = Inbox(store, scrub, rates=WIDE)
    reception = Reception(
        agents,
        Sessions(store, agents, host=HOST),
        States(store),
        Gate(store, scrub),
        Context(store, scrub),
        leases,
        inbox,
    )
    try:
        await agents.prepare()
        yield Room(store, agents, inbox, leases, reception, project)
    finally:
        await store.close()
