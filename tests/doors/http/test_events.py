"""The event log over HTTP: cursors, filters, pings, and streams that are cut."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from doors.http.streaming import Reader
from mufakat.app import App
from mufakat.core.base import Event, LoggedEvent, Revision
from mufakat.server import listen, main
from mufakat.server.http import api, cursor, sse, tail
from mufakat.server.http.limits import Limits
from mufakat.server.http.streams import Streams

pytestmark = pytest.mark.anyio

EVENTS = "/api/v1/events"
TOKEN = "test-token-0123456789abcdefghijklmnop"
AUTH = {"authorization": f"Bearer {TOKEN}"}


async def tick(app: App, count: int = 1, subject: str = "s1", **data: Any) -> list[str]:
    """Log some events; answers their wire ids."""
    epoch, _ = await app.feed.head()
    revisions = [
        await app.store.write(lambda tx: tx.events.record(Event("demo.tick", subject, data)))
        for _ in range(count)
    ]
    return [f"{epoch}-{revision}" for revision in revisions]


@contextmanager
def seeded(seed: int | None = None) -> Iterator[random.Random]:
    number = random.randrange(2**32) if seed is None else seed
    print(f"seed {number}")
    yield random.Random(number)


@asynccontextmanager
async def reading(
    door: api.Server, query: str = "follow=1", **headers: str
) -> AsyncIterator[Reader]:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    reader = Reader(door, query=query, headers=AUTH | fields).start()
    try:
        yield reader
    finally:
        await reader.leave()


async def end(app: App) -> str:
    """The cursor at the end of the log: what a home begins with lies before it."""
    epoch, head = await app.feed.head()
    return f"{epoch}-{head}"


def kinds(reader: Reader) -> list[str]:
    return [frame.event for frame in reader.frames]


async def test_a_page_and_a_stream_tell_the_same(
    client: httpx.AsyncClient, door: api.Server, app: App
) -> None:
    start = await end(app)
    ids = await tick(app, 3, text="line one\nline two\r\u2028\x85")
    page = (await client.get(EVENTS, params={"after": start})).json()
    assert [event["id"] for event in page["events"]] == ids
    assert page["next"] == page["head"] == ids[-1]
    async with reading(door, f"follow=1&after={start}") as reader:
        await reader.until(lambda: len(reader.frames) == 3)
    assert [json.loads(frame.data) for frame in reader.frames] == page["events"]
    assert [frame.id for frame in reader.frames] == ids
    assert reader.raw.startswith(b": ping\n\n")


@pytest.mark.parametrize("way", ["after", "header"])
async def test_e2_resume_behind_an_id(door: api.Server, app: App, way: str) -> None:
    ids = await tick(app, 5)
    query = f"follow=1&after={ids[1]}" if way == "after" else f"follow=1&after={ids[4]}"
    headers = {"last_event_id": ids[1]} if way == "header" else {}
    async with reading(door, query, **headers) as reader:
        await reader.until(lambda: len(reader.frames) == 3)
        ids += await tick(app)
        await reader.until(lambda: len(reader.frames) == 4)
    assert [frame.id for frame in reader.frames] == ids[2:]


async def test_e2_accept_asks_for_the_stream(door: api.Server, app: App) -> None:
    start = await end(app)
    await tick(app)
    async with reading(door, f"after={start}", accept="text/event-stream") as reader:
        await reader.until(lambda: kinds(reader) == ["demo.tick"])
    assert reader.status == 200


async def test_e2_row_65_unknown_epoch(
    client: httpx.AsyncClient, door: api.Server, app: App
) -> None:
    ids = await tick(app, 2)
    stale = "0123456789abcdef-1"
    refused = await client.get(EVENTS, params={"after": stale})
    assert (refused.status_code, refused.json()["code"]) == (409, "unknown_epoch")
    assert refused.json()["head"] == ids[-1]
    async with reading(door, last_event_id=stale) as reader:
        await reader.until(lambda: bool(reader.frames))
        later = await tick(app)
        await reader.until(lambda: len(reader.frames) == 2)
    assert kinds(reader) == ["reset", "demo.tick"]
    assert [frame.id for frame in reader.frames] == [ids[-1], *later]


@pytest.mark.parametrize(
    "bad", ["x", "5", "-5", "{epoch}-", "{epoch}-x", "{epoch}-٣", "{epoch}--1", "{epoch}-1.0",
            "{epoch}-" + "9" * 20, "{epoch}- 1"]
)  # fmt: skip
async def test_row_65_no_cursor(client: httpx.AsyncClient, app: App, bad: str) -> None:
    epoch, _ = await app.feed.head()
    text = bad.format(epoch=epoch)
    for extra in ({}, {"follow": "1"}):
        answer = await client.get(EVENTS, params={"after": text, **extra})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


async def test_e8_row_65_future_cursor(client: httpx.AsyncClient, app: App) -> None:
    ids = await tick(app, 2)
    epoch = ids[0].rpartition("-")[0]
    for extra in ({}, {"follow": "1"}):
        ahead = f"{epoch}-{int(ids[-1].rpartition('-')[2]) + 1}"
        answer = await client.get(EVENTS, params={"after": ahead, **extra})
        assert (answer.status_code, answer.json()["code"]) == (409, "future_cursor")
        assert answer.json()["head"] == ids[-1]
    headers = {"last-event-id": f"{epoch}-999", "accept": "text/event-stream"}
    assert (await client.get(EVENTS, headers=headers)).status_code == 409


def test_e3_compacted_cursor() -> None:
    log = cursor.Log("abc", Revision(100), Revision(51))
    refused = cursor.place("abc-49", log)
    assert getattr(refused, "code", "") == "compacted"
    assert getattr(refused, "detail", {}) == {"oldest": "abc-50"}
    assert cursor.place("abc-50", log) == 50
    assert cursor.place("abc-100", log) == 100
    assert cursor.place("", log) == 50


async def test_e5_pings_write_nothing(door: api.Server, app: App) -> None:
    before = await app.feed.head()
    async with reading(door, f"follow=1&after={await end(app)}") as reader:
        await reader.until(lambda: reader.raw.count(b": ping\n\n") >= 3)
    assert reader.frames == []
    assert await app.feed.head() == before


async def test_e7_filters_and_progress(door: api.Server, app: App) -> None:
    mine = await tick(app, 1, "mine", conversation="c1")
    async with reading(door, "follow=1&conversation=c1") as reader:
        await reader.until(lambda: len(reader.frames) == 1)
        others = await tick(app, 3, "other", conversation="c2")
        await reader.until(lambda: "progress" in kinds(reader))
        mine += await tick(app, 1, "mine", conversation="c1")
        await reader.until(lambda: len(reader.frames) == 3)
    assert kinds(reader) == ["demo.tick", "progress", "demo.tick"]
    assert [frame.id for frame in reader.frames] == [mine[0], others[-1], mine[1]]


async def test_e7_progress_after_many_skipped(app: App) -> None:
    door = api.create(app, token=TOKEN, limits=Limits(progress_events=10))
    ids = await tick(app, 25, "other")
    async with reading(door, "follow=1&subject=mine") as reader:
        await reader.until(lambda: kinds(reader) == ["progress"])
    assert reader.frames[0].id == ids[-1]


async def test_filter_by_kind_and_subject(
    client: httpx.AsyncClient, app: App, project: Path
) -> None:
    await app.talk.start(str(project))
    await tick(app, 2, "a")
    page = (await client.get(EVENTS, params={"kinds": "project.added,demo.tick"})).json()
    assert [event["kind"] for event in page["events"]] == ["project.added", *["demo.tick"] * 2]
    page = (await client.get(EVENTS, params={"subject": "a", "limit": 1})).json()
    assert len(page["events"]) == 1
    rest = await client.get(EVENTS, params={"subject": "a", "after": page["next"]})
    assert len(rest.json()["events"]) == 1
    assert rest.json()["next"] == rest.json()["head"]


async def test_a_poll_waits_for_the_next_event(client: httpx.AsyncClient, app: App) -> None:
    (before,) = await tick(app)
    waiting = asyncio.create_task(client.get(EVENTS, params={"after": before, "wait": 20}))
    await asyncio.sleep(0.05)
    after = await tick(app)
    page = (await waiting).json()
    assert [event["id"] for event in page["events"]] == after
    empty = (await client.get(EVENTS, params={"after": after[0], "wait": 0.05})).json()
    assert (empty["events"], empty["next"]) == ([], after[0])


async def test_e6_a_reader_that_takes_nothing_is_cut(door: api.Server, app: App) -> None:
    stuck = asyncio.Event()

    async def on_send() -> None:
        if stuck.is_set():
            await asyncio.Event().wait()

    reader = Reader(door, headers=AUTH, on_send=on_send).start()
    await reader.until(lambda: door.streams.open == 1)
    stuck.set()
    await tick(app)
    async with asyncio.timeout(10):
        await reader.left.wait()
        assert reader.task is not None
        await reader.task
    assert reader.aborted
    assert door.streams.open == 0


async def test_e6_on_the_wire_a_stuck_reader_is_cut(app: App) -> None:
    limits = Limits(stuck_seconds=0.5)
    with suppress(OSError):
        listener = listen.bind("127.0.0.1", 0)
    async with main.answering(app, listener, TOKEN, limits=limits) as (ready, _):
        place = urlsplit(ready.url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=1024)
        writer.write(
            f"GET {EVENTS}?follow=1 HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
        )
        await reader.readline()
        async with httpx.AsyncClient(base_url=ready.url, headers=AUTH) as client:
            async with asyncio.timeout(60):
                open_streams = 1
                while open_streams:
                    await tick(app, 4, text="x" * 500_000)
                    status = await client.get("/api/v1/status")
                    open_streams = status.json()["counts"]["streams"]
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await reader.read(2**20):
                pass
        writer.close()


async def test_row_66_the_33rd_stream(door: api.Server, app: App) -> None:
    readers = [Reader(door, headers=AUTH).start() for _ in range(40)]
    for reader in readers:
        await reader.until(lambda reader=reader: reader.status != 0)  # type: ignore[misc]
    assert sorted(reader.status for reader in readers) == [200] * 32 + [429] * 8
    for reader in readers:
        await reader.leave()
    assert door.streams.open == 0
    async with reading(door) as reader:
        await reader.until(lambda: reader.status == 200)


async def test_closing_tells_the_last_events_and_ends(door: api.Server, app: App) -> None:
    async with reading(door, f"follow=1&after={await end(app)}") as reader:
        await reader.until(lambda: reader.status == 200)
        last = await tick(app, 3)
        door.streams.close()
        await reader.until(lambda: reader.ended)
    assert [frame.id for frame in reader.frames] == last


async def test_closing_tells_a_reader_far_behind_all_of_it(door: api.Server, app: App) -> None:
    start = await end(app)
    missed = await tick(app, 2 * tail.PAGE + 1)
    door.streams.close()
    async with reading(door, f"follow=1&after={start}") as reader:
        await reader.until(lambda: reader.ended)
    assert [frame.id for frame in reader.frames] == missed


class HandOver(sse.EventStream):
    """The fault: it replays the backlog, then subscribes to a queue."""

    hub: Hub

    async def _follow(self, send: Any) -> None:
        backlog = await self.feed.after(self.cursor, limit=100_000)
        reached = backlog[-1].revision if backlog else self.cursor
        await self._tell(send, backlog, reached)
        queue = self.hub.subscribe()
        while True:
            event = await queue.get()
            await self._tell(send, [event], event.revision)


class Hub:
    """Hands every new event to all subscribers."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.queues: list[asyncio.Queue[LoggedEvent]] = []

    def subscribe(self) -> asyncio.Queue[LoggedEvent]:
        self.queues.append(asyncio.Queue())
        return self.queues[-1]

    async def run(self) -> None:
        cursor = Revision(0)
        while True:
            await self.app.feed.wait(cursor, seconds=60)
            for event in await self.app.feed.after(cursor, limit=1_000):
                cursor = event.revision
                for queue in self.queues:
                    queue.put_nowait(event)


Make = Callable[[Revision], sse.EventStream]


async def consume(
    make: Make, rng: random.Random, *, cuts: int, until: int, seconds: float
) -> list[int]:
    """Follow the log with cuts at random sends; answers the revisions seen, in order."""
    seen: list[int] = []
    at = Revision(0)
    for turn in range(cuts + 1):
        reader = Reader(make(at)).start()
        patience = rng.randint(1, 6)

        def enough(reader: Reader = reader, turn: int = turn, patience: int = patience) -> bool:
            if turn == cuts:
                return reader.parser.last_id.endswith(f"-{until}")
            return len(reader.frames) >= patience

        with suppress(TimeoutError):
            await reader.until(enough, seconds=seconds)
        await reader.leave()
        seen += [json.loads(frame.data)["revision"] for frame in reader.frames]
        at = Revision(seen[-1]) if seen else at
    return seen


async def missed_and_twice(
    app: App, kind: type[sse.EventStream], *, seconds: float
) -> tuple[int, int]:
    """What 8 readers missed and saw twice; a connection may take `seconds`."""
    consumers, cuts, events = 8, 10, 300
    epoch, _ = await app.feed.head()
    hub = Hub(app)
    streams = Streams(consumers)

    def make(at: Revision) -> sse.EventStream:
        log = cursor.Log(epoch, at, Revision(1))
        stream = kind(app.feed, at, log=log, wanted=tail.Wanted(), streams=streams, limits=Limits())
        if isinstance(stream, HandOver):
            stream.hub = hub
        return stream

    async def write(rng: random.Random) -> None:
        for _ in range(events):
            await tick(app)
            if rng.random() < 0.3:
                await asyncio.sleep(0.001)

    with seeded() as rng:
        pump = asyncio.create_task(hub.run())
        writer = asyncio.create_task(write(random.Random(rng.random())))
        try:
            runs = await asyncio.gather(
                *(
                    consume(
                        make, random.Random(rng.random()), cuts=cuts, until=events, seconds=seconds
                    )
                    for _ in range(consumers)
                )
            )
            await writer
        finally:
            pump.cancel()
            writer.cancel()
    wanted = set(range(1, events + 1))
    missed = sum(len(wanted - set(seen)) for seen in runs)
    twice = sum(len(seen) - len(set(seen)) for seen in runs)
    disordered = sum(seen != sorted(seen) for seen in runs)
    return missed, twice + disordered


async def test_q6_cut_streams_miss_nothing_and_see_nothing_twice(app: App) -> None:
    found = await missed_and_twice(app, sse.EventStream, seconds=60)
    assert found == (0, 0)


async def test_q6_twin_replay_then_subscribe_misses_events(app: App) -> None:
    missed, twice = await missed_and_twice(app, HandOver, seconds=3)
    assert missed + twice > 0
