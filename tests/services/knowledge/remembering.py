"""Conversations that are worth remembering, for the tests of memory."""

from __future__ import annotations

import asyncio

from mufakat.app import App
from mufakat.core.knowledge.topic import Line
from services.conftest import House

FACTS = [
    "The staging port is 8123.",
    "We decided to use httpie for all requests in tests/api.py.",
    "Hey, thanks, that sounds great!",
    "The build fails with ValueError in src/parser.py.",
    "Alice promised the report by Friday.",
    "The nightly backup runs at 02:30 on host blue-7.",
]


async def talk(house: House, *said: str) -> str:
    """A conversation in which a person says something."""
    id = (await house.app.talk.start(str(house.project), "Memory")).id
    await more(house, id, *said)
    return id


async def more(house: House, id: str, *said: str) -> None:
    for one in said:
        await house.app.talk.say(id, one)
    await house.app.knowledge.memory.refresh(id)


def filler(count: int, start: int = 0) -> list[str]:
    return [f"File number_{n}.py holds {n} functions now." for n in range(start, start + count)]


async def lines(house: House, id: str) -> list[Line]:
    topics = await house.app.knowledge.memory.topics(id, limit=200)
    return [line for one in topics for line in one.lines]


async def topics_of(app: App, id: str) -> None:
    """Wait until a conversation has topics; the log tells when to look."""
    async with asyncio.timeout(30):
        while True:
            _, head = await app.feed.head()
            if await app.knowledge.memory.topics(id):
                return
            await app.feed.wait(head, seconds=5)
