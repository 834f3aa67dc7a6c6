"""Folding the log gives what the store holds, after whatever agents have done."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from equipment.store_records import Readings
from mufakat.core import secrets
from mufakat.core.base import LoggedEvent, MufakatError, Revision
from mufakat.core.coordination import replay
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.replay import Agent, Held, Letter, Picture
from mufakat.core.coordination.sending import Sending
from mufakat.core.coordination.state import On, Report, State
from mufakat.engines.process.watch import LocalProcesses
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import credentials, inbox, leases
from mufakat.services.coordination.agents import Joining
from mufakat.services.coordination.context import Context
from mufakat.services.coordination.gate import Gate
from mufakat.services.coordination.joining import Agents
from mufakat.services.coordination.leases import Leases
from mufakat.services.coordination.mailbox import Inbox
from mufakat.services.coordination.rulebook import Rulebook
from mufakat.services.coordination.states import States
from mufakat.services.ledger import Ledger
from mufakat.storage.store import open_store
from services.coordination.crowd import HOST, JOIN_TOKEN, JOINER, PERSON
from services.coordination.mail.conftest import WIDE

ENGINES = ("claude", "codex", "gemini")
RESOURCES = ("task:a", "task:b", "port:80")
STEPS = 40


@dataclass
class Town:
    """Everything that agents do, over a clock that the test moves."""

    store: Store
    clock: Readings
    project: Path
    draw: random.Random
    agents: Agents
    states: States
    inbox: Inbox
    gate: Gate
    context: Context
    leases: Leases
    known: list[Principal]
    held: list[Lease]
    keys: int = 0

    def key(self) -> str:
        self.keys += 1
        return f"k{self.keys}"

    def who(self) -> Principal:
        return self.draw.choice(self.known)

    async def join(self) -> None:
        engine = self.draw.choice(ENGINES)
        session = self.draw.choice(("", "s1", "s2"))
        role = self.draw.choice(("", "tester"))
        joining = Joining(engine, project=str(self.project), session=session, role=role)
        joined = await self.agents.join(JOINER, joining)
        self.known.append(await self.agents.authenticate(joined.token))

    async def report(self) -> None:
        state = self.draw.choice(list(State))
        on = {State.BLOCKED: On.TOOL, State.OFFLINE: On.CRASHED}.get(state)
        by = self.who()
        await self.states.report(by, by.identity, Report(state, on=on, debt=self.draw.randrange(2)))

    async def leave(self) -> None:
        await self.agents.leave(self.who(), "me", cause=self.draw.choice(("exited", "lost")))

    async def send(self) -> None:
        to = self.draw.choice([*(one.identity for one in self.known), "role:tester"])
        intent = self.draw.choice(("inform", "request"))
        wanted = Sending(
            (to,),
            body=f"words {self.keys}",
            intent=intent,
            ttl_seconds=self.draw.choice((None, 5)),
            hold=self.draw.random() < 0.2,
        )
        await self.inbox.send(self.who(), wanted, key=self.key())

    async def read(self) -> None:
        by = self.who()
        taken = await self.inbox.claim(by)
        numbers = [one.delivery.number for one in taken]
        if numbers and self.draw.random() < 0.7:
            await self.inbox.shown(by, numbers)
            await self.inbox.ack(by, numbers=numbers, decline=self.draw.choice(("", "no")))

    async def answer(self) -> None:
        by = self.who()
        for one in await self.inbox.read(by, limit=1):
            wanted = Sending((), body="an answer", reply_to=one.envelope.message)
            await self.inbox.send(by, wanted, key=self.key())

    async def stop(self) -> None:
        await self.gate.stop(self.who(), session="s", turn=f"t{self.draw.randrange(3)}")

    async def told(self) -> None:
        await self.context.digest(self.who(), budget=3_000, shown=True)

    async def acquire(self) -> None:
        some = self.draw.sample(RESOURCES, self.draw.randrange(1, 3))
        mode = self.draw.choice(("exclusive", "shared"))
        request = Request(tuple(some), mode=mode, ttl_seconds=self.draw.choice((5, 30)))
        self.held.append(await self.leases.acquire(self.who(), request, key=self.key()))

    async def lease(self) -> None:
        if not self.held:
            return
        one = self.draw.choice(self.held)
        by = next((p for p in self.known if p.identity == one.wanted.holder), self.who())
        match self.draw.randrange(4):
            case 0:
                await self.leases.renew(by, one.id, one.fences[0], 60)
            case 1:
                await self.leases.release(by, one.id, one.fences[0])
            case 2:
                self.held.append(
                    await self.leases.transfer(by, one.id, one.fences[0], self.who().identity)
                )
            case _:
                operator = self.agents.operator
                self.held.append(
                    await self.leases.steal(operator, one.wanted.resources[:1], "urgent")
                )

    async def wait(self) -> None:
        self.clock.elapsed_ms += self.draw.choice((500, 4_000, 20_000, 70_000))

        def due(tx: Transaction) -> None:
            leases.expire(tx)
            inbox.overdue(tx)

        await self.store.write(due)

    async def pause(self) -> None:
        await self.agents.pause(self.agents.operator)
        await self.agents.unpause(self.agents.operator)

    async def restart(self) -> None:
        """What a server does when it comes up again."""
        await self.agents.prepare()

    async def live(self) -> None:
        """Do something; what is refused is done to nobody."""
        act: Callable[[], Any] = self.draw.choice(
            (
                *(self.join, self.report, self.report, self.send, self.send, self.read),
                *(self.answer, self.stop, self.told, self.acquire, self.acquire, self.lease),
                *(self.lease, self.wait, self.pause, self.restart, self.leave),
            )
        )
        with suppress(MufakatError):
            await act()


@asynccontextmanager
async def town(folder: Path, seed: int) -> AsyncIterator[Town]:
    clock = Readings(wall_ms=1_000_000)
    store = await open_store(folder / "mufakat.db", readings=clock, reserve_bytes=0)
    scrub = secrets.scrub
    people = Agents(
        store,
        LocalProcesses(),
        host=HOST,
        person=PERSON,
        join_digest=credentials.digest(JOIN_TOKEN),
    )
    made = Town(
        store,
        clock,
        folder,
        random.Random(seed),
        people,
        States(store),
        Inbox(store, scrub, rates=WIDE),
        Gate(store, scrub),
        Context(store, scrub),
        Leases(store, Rulebook(None), scrub=scrub),
        known=[],
        held=[],
    )
    try:
        await people.prepare()
        await made.join()
        yield made
    finally:
        await store.close()


def snapshot(tx: Transaction) -> Picture:
    """The same picture, read from the tables."""
    people = tx.instances.list(limit=10_000)
    picture = Picture(tx.events.head())
    for one in people:
        picture.agents[one.identity] = _agent(one)
        rows = tx.inbox.page(one.identity, limit=10_000)
        if rows:
            picture.inboxes[one.identity] = {
                row.number: Letter(row.message, replay.settled(row.status)) for row in rows
            }
    picture.leases = {
        one.id: Held(
            one.wanted.holder,
            one.wanted.resources,
            one.wanted.mode.value,
            one.wanted.rank,
            one.since,
            one.expires,
        )
        for one in tx.leases.live()
        if one.ended is None
    }
    return picture


def _agent(one: Instance) -> Agent:
    standing = one.standing
    return Agent(
        standing.state.value,
        standing.on.value if standing.on else None,
        standing.run,
        standing.debt,
        one.epoch,
        one.role,
        one.alias,
        one.project,
    )


async def run(seed: int, folder: Path) -> tuple[Picture, Picture, Sequence[tuple[int, Picture]]]:
    """Live for a while; answers the replay, the tables, and both at some moments on the way."""
    between: list[tuple[int, Picture]] = []
    async with town(folder, seed) as made:
        for step in range(STEPS):
            await made.live()
            if step % 10 == 9:
                seen = await made.store.read(snapshot)
                between.append((seen.revision, seen))
        ledger = Ledger(made.store, secrets.scrub)
        replayed = await ledger.replay()
        then = [(at, await ledger.replay(at)) for at, _ in between]
        assert [one for _, one in then] == [one for _, one in between]
        return replayed, await made.store.read(snapshot), then


def lived(seed: int) -> tuple[Picture, Picture]:
    with tempfile.TemporaryDirectory() as folder:
        replayed, tables, _ = asyncio.run(run(seed, Path(folder)))
    return replayed, tables


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_a_replay_is_what_the_tables_hold_now_and_on_the_way(seed: int) -> None:
    note(f"seed {seed}")
    replayed, tables = lived(seed)
    assert replay.shown(replayed) == replay.shown(tables)


@pytest.mark.parametrize("kind", ["lease.renewed", "inbox.acked", "agent.state", "lease.granted"])
def test_twin_a_fold_that_leaves_a_kind_out_is_noticed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "CHANGES", {k: v for k, v in replay.CHANGES.items() if k != kind})
    for seed in range(20):
        try:
            replayed, tables = lived(seed)
        except AssertionError:
            return
        if replay.shown(replayed) != replay.shown(tables):
            return
    pytest.fail(f"no run of 20 needed {kind}")


def test_events_beyond_the_revision_do_not_count() -> None:
    def moved(revision: int, to: str) -> LoggedEvent:
        data = {"from": "idle", "to": to}
        return LoggedEvent(Revision(revision), 0, "agent.state", "a@b:123456", data)  # type: ignore[arg-type]

    events = [moved(1, "working"), moved(2, "idle")]
    picture = replay.fold(Picture(), events, until=Revision(1))
    assert (picture.revision, picture.agents["a@b:123456"].state) == (1, "working")
