"""A store whose clock a test moves, agents that have joined, and the services of their mail."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from equipment.store_records import Readings
from mufakat.core import secrets
from mufakat.core.base import ConversationId, LoggedEvent, Revision
from mufakat.core.coordination.flood import Rate, Rates
from mufakat.core.coordination.inbox import Delivery, Letter
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.sending import Sending
from mufakat.core.coordination.state import Standing, State
from mufakat.ports.coordination import Member
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk
from mufakat.services.coordination import agents, held, inbox
from mufakat.services.coordination.context import Context
from mufakat.services.coordination.gate import Gate
from mufakat.services.coordination.inbox import Sent
from mufakat.services.coordination.mailbox import Inbox
from mufakat.services.coordination.notices import Notices
from mufakat.storage import store as storage

ANN, BOB, CAT = "claude@host:aaaaaa", "codex@host:bbbbbb", "gemini@host:cccccc"
PERSON = "human@host:000000"
OPERATOR = Principal(Right.OPERATOR, PERSON)
WIDE = Rates(Rate(100_000, 1.0), Rate(100_000, 1.0))


def by(identity: str, epoch: int = 1) -> Principal:
    return Principal(Right.AGENT, identity, epoch)


@dataclasses.dataclass
class Office:
    """Services, and short ways to use them."""

    store: Store
    clock: Readings
    inbox: Inbox
    gate: Gate
    context: Context
    notices: Notices
    project: str
    _keys: int = 0

    async def join(self, name: str, *, role: str = "", alias: str = "", **more: Any) -> Instance:
        def step(tx: Transaction) -> Instance:
            place = talk.ensure_project(tx, self.project, "demo")
            joined = agents.register(
                tx,
                name,
                instance=name.rpartition(":")[2].ljust(32, "0"),
                standing=Standing(State.WORKING, tx.now(), run="r_1"),
                role=role,
                alias=alias,
                project=more.get("project", place.id),
            )
            held.arrived(tx, joined)
            return joined

        return await self.store.write(step)

    async def send(
        self, sender: str, to: str | tuple[str, ...], body: str = "words", **more: Any
    ) -> Sent:
        self._keys += 1
        key = more.pop("key", f"key-{self._keys}")
        names = (to,) if isinstance(to, str) else to
        who = OPERATOR if sender == PERSON else by(sender)
        return await self.inbox.send(who, Sending(names, body=body, **more), key=key)

    async def say(self, thread: ConversationId | str, text: str) -> None:
        await talk.Talk(self.store, secrets.scrub, person=PERSON).say(thread, text)

    async def stop(self, who: str, turn: str = "t1", **more: Any) -> Any:
        return await self.gate.stop(by(who), session="s1", turn=turn, **more)

    async def rows(self, who: str) -> Sequence[Delivery]:
        return await self.store.read(lambda tx: tx.inbox.page(who, limit=500))

    async def statuses(self, who: str) -> list[str]:
        return [row.status.value for row in await self.rows(who)]

    async def letters(self, who: str, **more: Any) -> Sequence[Letter]:
        return await self.inbox.read(by(who), open_only=False, limit=500, **more)

    async def texts(self, who: str) -> list[str]:
        return [one.text for one in await self.letters(who)]

    async def instance(self, who: str) -> Instance:
        return await self.store.read(lambda tx: agents.known(tx, who))

    async def events(self, *kinds: str) -> Sequence[LoggedEvent]:
        return await self.store.read(
            lambda tx: tx.events.after(Revision(0), limit=10_000, kinds=kinds)
        )

    async def follow(self, who: str, thread: str) -> None:
        member = Member(ConversationId(thread), who, 0)
        await self.store.write(lambda tx: held.follow(tx, member))

    async def pass_time(self, seconds: float) -> None:
        """Move the clock on, and do what is due."""
        self.clock.elapsed_ms += round(seconds * 1000)
        await self.store.write(inbox.overdue)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Office]:
    """An office in a folder, with three agents that work."""
    clock = Readings(wall_ms=1_000_000)
    store = await storage.open_store(folder / "mufakat.db", readings=clock, reserve_bytes=0)
    scrub = secrets.scrub
    made = Office(
        store,
        clock,
        Inbox(store, scrub, rates=WIDE),
        Gate(store, scrub, person=PERSON),
        Context(store, scrub),
        Notices(store, scrub),
        str(folder),
    )
    for name in (ANN, BOB, CAT):
        await made.join(name)
    try:
        yield made
    finally:
        await store.close()


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opened(tmp_path) as made:
        yield made
