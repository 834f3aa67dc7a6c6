"""Agents who lease from one real store under a clock that a test turns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipment.store_records import Readings
from mufakat.core.base import LoggedEvent, Millis, Revision
from mufakat.core.coordination import policy
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import Standing, State
from mufakat.core.secrets import scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk
from mufakat.services.coordination import agents, credentials, leases
from mufakat.services.coordination.leases import Leases
from mufakat.services.coordination.policy import Policy
from mufakat.services.coordination.rulebook import Rulebook

PERSON = Principal(Right.OPERATOR, "human@box:000001")


@dataclass
class House:
    """The store, its clock, the service, and short ways to use them."""

    store: Store
    readings: Readings
    home: Path
    project: Path
    rulebook: Rulebook
    leases: Leases
    policy: Policy
    pace: list[float] = field(default_factory=lambda: [0.0])
    """Seconds on the clock that paces requests."""

    async def join(self, number: int, *, role: str = "", claimed: bool = False) -> Principal:
        """An agent that is there, in a role that it was granted or has only `claimed`."""
        name = f"codex@box:{number:06x}"

        def step(tx: Transaction) -> None:
            place = talk.ensure_project(tx, str(self.project), "demo")
            standing = Standing(State.WORKING, tx.now())
            there = agents.register(
                tx, name, instance=f"{number:032x}", standing=standing, role=role, project=place.id
            )
            if role and not claimed:
                credentials.grant_role(tx, there)

        await self.store.write(step)
        return Principal(Right.AGENT, name, epoch=1)

    async def ask(self, by: Principal, *resources: str, key: str = "", **more: object) -> Lease:
        """Ask for a lease, one second later than the request before it."""
        self.pace[0] += 1
        request = Request(resources or ("task:a",), **more)  # type: ignore[arg-type]
        return await self.leases.acquire(by, request, key=key)

    async def queued(self, by: Principal, *resources: str, **more: object) -> asyncio.Task[Lease]:
        """A request that stands in the queue by now."""
        before = len(await self.leases.queue())
        wish = {"wait_seconds": 600, **more}
        task = asyncio.create_task(self.ask(by, *resources, **wish))  # type: ignore[arg-type]
        async with asyncio.timeout(10):
            while len(await self.leases.queue()) == before and not task.done():  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        return task

    async def later(self, seconds: float) -> None:
        """Let time pass, and what is due be done as the timer does it."""
        self.readings.elapsed_ms += round(seconds * 1000)
        await self.store.write(lambda tx: leases.expire(tx, self.rules))

    @property
    def rules(self) -> policy.Policy:
        return self.rulebook.edition().policy

    async def now(self) -> Millis:
        return await self.store.read(lambda tx: tx.now())

    async def events(self, *kinds: str) -> list[LoggedEvent]:
        return list(
            await self.store.read(
                lambda tx: tx.events.after(Revision(0), limit=10_000, kinds=kinds)
            )
        )

    async def mail(self, by: Principal) -> list[str]:
        """What an agent was told, oldest first."""

        def query(tx: Transaction) -> list[str]:
            page = tx.inbox.page(by.identity, limit=100)
            found = [tx.messages.get(one.message) for one in page]
            return [one.text for one in found if one is not None]

        return await self.store.read(query)

    def write_policy(self, text: str) -> None:
        (self.home / "policy.toml").write_text(text)


def furnish(store: Store, readings: Readings, home: Path, project: Path) -> House:
    """A house over an open store."""
    rulebook = Rulebook(home / "policy.toml")
    pace = [0.0]
    service = Leases(store, rulebook, scrub=scrub, clock=lambda: pace[0])
    explained = Policy(store, rulebook)
    return House(store, readings, home, project, rulebook, service, explained, pace)


def holders(found: Sequence[Lease]) -> list[str]:
    return [one.wanted.holder for one in found]
