"""Readers on real sockets that are cut in the middle of a byte stream, over a server's restart."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from doors.http import wire
from mufakat.sdk import sse
from mufakat.server import main
from mufakat.server.http.limits import Limits
from mufakat.server.main import Ready
from mufakat.settings import Settings

EVENTS = "/api/v1/events"
SAID = 160
CUTS = 10
PINGING = Limits(ping_seconds=0.3)


@dataclass
class World:
    """Where the server is now, and which revision is the last one to come."""

    server: Ready
    last: int = 0
    finished: threading.Event = field(default_factory=threading.Event)


@dataclass
class Follower:
    """One reader with its cursor; `seen` holds revisions in the order they came."""

    world: World
    rng: random.Random
    poll: bool = False
    cursor: str = ""
    seen: list[int] = field(default_factory=list)
    cuts: int = 0

    def run(self) -> Follower:
        end = time.monotonic() + 90
        while not self.done():
            assert time.monotonic() < end, (self.cursor, self.world.last, self.cuts)
            try:
                self.once()
            except httpx.HTTPError:
                time.sleep(0.02)
        return self

    def done(self) -> bool:
        whole = self.world.finished.is_set() and self.cuts >= CUTS
        return whole and bool(self.seen) and self.seen[-1] >= self.world.last

    def once(self) -> None:
        with wire.client(self.world.server) as http:
            for id in self.polled(http) if self.poll else self.streamed(http):
                self.cursor = id
                self.seen.append(int(id.rpartition("-")[2]))
        self.cuts += 1

    def polled(self, http: httpx.Client) -> Iterator[str]:
        query = {"after": self.cursor, "wait": 1, "limit": self.rng.randint(1, 40)}
        answer = http.get(EVENTS, params=query).raise_for_status()
        yield from (event["id"] for event in answer.json()["events"])

    def streamed(self, http: httpx.Client) -> Iterator[str]:
        parser = sse.Parser(last_id=self.cursor)
        headers = {"last-event-id": self.cursor} if self.cursor else {}
        budget = self.rng.randint(1, 6_000)
        if self.cuts >= CUTS:
            budget = 10**9
        with http.stream("GET", EVENTS, params={"follow": "1"}, headers=headers) as answer:
            answer.raise_for_status()
            for piece in answer.iter_raw():
                for frame in parser.feed(piece[:budget]):
                    yield frame.id
                budget -= len(piece)
                if budget <= 0 or self.done():
                    return


def test_q6_sse_and_polls_over_cuts_and_a_restart(settings: Settings, project: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with ThreadPoolExecutor(8) as pool:
        with main.in_thread(settings, limits=PINGING) as server:
            world = World(server)
            followers = [Follower(world, random.Random(rng.random()), n >= 6) for n in range(8)]
            runs = [pool.submit(follower.run) for follower in followers]
            with wire.client(server) as http:
                made = http.post("/api/v1/conversations", json={"project": str(project)})
                thread = made.json()["id"]
            talk(server, thread, SAID // 2)
        with main.in_thread(settings, limits=PINGING) as server:
            world.server = server
            talk(server, thread, SAID // 2)
            world.last = int(wire.head(server).rpartition("-")[2])
            world.finished.set()
            ended = [run.result() for run in runs]
    assert world.last >= SAID
    # The server itself may have gone on meanwhile: it condenses what was said.
    assert all(follower.seen[-1] >= world.last for follower in ended)
    assert [follower.seen == list(range(1, follower.seen[-1] + 1)) for follower in ended] == [
        True
    ] * 8
    assert min(follower.cuts for follower in ended) >= CUTS


def talk(server: Ready, thread: str, count: int) -> None:
    with wire.client(server) as http:
        for number in range(count):
            body = {"text": f"message {number}"}
            answer = http.post(f"/api/v1/conversations/{thread}/messages", json=body)
            assert answer.status_code == 201
