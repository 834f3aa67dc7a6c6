"""The same agent for asyncio: each call runs in a thread, so that the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mufakat.sdk.agent import Agent
from mufakat.sdk.lease import Lease
from mufakat.sdk.presence import Presence


class AsyncAgent:
    """Wraps an `Agent`; the methods are the same ones, awaited."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    @classmethod
    async def join(cls, engine: str, **options: Any) -> AsyncAgent:
        """Join as `Agent.join` does."""
        return cls(await asyncio.to_thread(Agent.join, engine, **options))

    @property
    def identity(self) -> str:
        """`engine@host:inst`, given by the server."""
        return self.agent.identity

    async def context(self, *, budget: int = 8_000) -> str:
        """What is new for this agent."""
        return await asyncio.to_thread(self.agent.context, budget=budget)

    async def working(self, detail: str = "") -> None:
        """Report that it works."""
        await asyncio.to_thread(self.agent.working, detail)

    async def blocked(self, on: str, detail: str = "") -> None:
        """Report what it waits for."""
        await asyncio.to_thread(self.agent.blocked, on, detail)

    async def idle(self, detail: str = "") -> None:
        """Report that it is done for now."""
        await asyncio.to_thread(self.agent.idle, detail)

    @asynccontextmanager
    async def presence(self) -> AsyncIterator[Presence]:
        """A connection to hold in an `async with` block: cut, the agent is lost soon after."""
        held = self.agent.presence()
        await asyncio.to_thread(held.__enter__)
        try:
            yield held
        finally:
            await asyncio.to_thread(held.close)

    @asynccontextmanager
    async def lease(self, *resources: str, **options: Any) -> AsyncIterator[Lease]:
        """A lease for an `async with` block; `check` it right before touching the resource."""
        lease = self.agent.lease(*resources, **options)
        await asyncio.to_thread(lease.__enter__)
        try:
            yield lease
        except BaseException as error:
            await asyncio.to_thread(lease.__exit__, type(error), error, error.__traceback__)
            raise
        await asyncio.to_thread(lease.__exit__, None, None, None)

    async def send(self, *to: str, body: str, **options: Any) -> dict[str, Any]:
        """Send a message."""
        return await asyncio.to_thread(self.agent.send, *to, body=body, **options)

    async def inbox(self, *, wait: float = 0, limit: int = 50) -> Sequence[dict[str, Any]]:
        """Messages that are not done with, oldest first."""
        return await asyncio.to_thread(self.agent.inbox, wait=wait, limit=limit)

    async def ack(self, *numbers: int) -> None:
        """Say that messages of the inbox are done with."""
        await asyncio.to_thread(self.agent.ack, *numbers)

    async def may_stop(self, turn: str = "") -> str:
        """The stop gate: empty where it may end its turn."""
        return await asyncio.to_thread(self.agent.may_stop, turn)

    async def wait(self, *conditions: str, every: bool = True, seconds: float = 60) -> bool:
        """Wait until agents are in a state."""
        return await asyncio.to_thread(self.agent.wait, *conditions, every=every, seconds=seconds)

    async def leave(self) -> None:
        """Go offline."""
        await asyncio.to_thread(self.agent.leave)

    async def __aenter__(self) -> AsyncAgent:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.leave()
