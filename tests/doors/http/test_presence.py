"""The stream that stands for a session: who may hold it, and what its end means."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from doors.http.room import Caller, Room, refused
from doors.http.streaming import Reader
from mufakat.core.coordination import presence
from mufakat.server.http import api
from services.coordination.crowd import eventually

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def present(
    door: api.Server, by: Caller, query: str = "presence=true"
) -> AsyncIterator[Reader]:
    """Hold a stream as its session's connection."""
    reader = Reader(door, query=query, headers=by.headers).start()
    try:
        await reader.until(lambda: bool(reader.raw))
        assert reader.status == 200
        yield reader
    finally:
        await reader.leave()


async def state(room: Room, agent: Caller) -> tuple[str, str | None]:
    """As somebody else sees it: looking must not count as a call of the agent."""
    found = await room.operator.get(f"/agents/{agent.identity}")
    return found["state"], found["on"]


async def lost(room: Room, agent: Caller) -> None:
    """Wait until it is; looking at it counts as no call of its own."""

    async def gone() -> bool:
        return await state(room, agent) == ("offline", "lost")

    await eventually(gone)


async def test_c2_the_end_of_the_stream_is_missed_then_lost_and_a_call_brings_it_back(
    door: api.Server, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "GRACE_MS", 300)
    agent = await room.join()
    lease = await agent.post("/leases", {"resources": ["custom:x"], "ttl": 60}, key="l")
    async with present(door, agent):
        await asyncio.sleep(0.6)
        assert (await state(room, agent))[0] == "starting"
    await lost(room, agent)
    live = await room.operator.get("/leases")
    assert [one["id"] for one in live["items"]] == [lease["id"]]
    me = await agent.get("/agents/me")
    assert (me["state"], me["epoch"]) == ("starting", agent.record["epoch"])


async def test_c2_a_call_within_the_grace_is_enough(
    door: api.Server, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "GRACE_MS", 600)
    agent = await room.join()
    async with present(door, agent):
        pass
    await agent.get("/inbox")
    await asyncio.sleep(1.5)
    assert (await state(room, agent))[0] == "starting"


async def test_a_stream_that_says_nothing_of_presence_may_end(
    door: api.Server, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "GRACE_MS", 0)
    agent = await room.join()
    for query in ("follow=1", "follow=1&presence=false", "follow=1&presence=0"):
        async with present(door, agent, query):
            pass
    await asyncio.sleep(0.5)
    assert (await state(room, agent))[0] == "starting"


async def test_who_leaves_in_the_stream_has_exited(
    door: api.Server, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "GRACE_MS", 0)
    agent = await room.join()
    async with present(door, agent):
        await agent.ask("DELETE", "/agents/me")
    await asyncio.sleep(0.5)
    assert await state(room, agent) == ("offline", "exited")


async def test_only_the_stream_of_an_agent_can_stand_for_a_session(room: Room) -> None:
    agent = await room.join()
    refused(await room.operator.ask("GET", "/events", presence="true"), 422, "invalid_input")
    refused(await agent.ask("GET", "/events", presence="true", follow="0"), 422, "invalid_input")
    refused(await agent.ask("GET", "/events", presence="perhaps"), 422, "invalid_input")


async def test_a_full_house_takes_no_presence_either(door: api.Server, room: Room) -> None:
    agent = await room.join()
    held = [Reader(door, query="presence=1", headers=agent.headers).start() for _ in range(32)]
    try:
        for reader in held:
            await reader.until(lambda: bool(reader.raw))  # noqa: B023
        refused(await agent.ask("GET", "/events", presence="1"), 429, "too_many_streams")
    finally:
        for reader in held:
            await reader.leave()
