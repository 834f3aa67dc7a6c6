"""Starts the real server with changes that only tests want: short leases, or a fault put in.

Run as `python start_server.py NAME[,NAME] ARGUMENT …`; the arguments are those of `mufakat`.
`die=POINT:NUMBER` kills the server when it passes a point for the so manieth time after the file
`armed` was put into its home.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mufakat.cli.main import main
from mufakat.core.base import Millis, Revision
from mufakat.core.coordination import asking, gate, policy
from mufakat.core.coordination.lease import Held, Renewed, Rule, Waiter
from mufakat.ports.store import Transaction
from mufakat.server.http import reply
from mufakat.server.http.sse import EventStream, frame
from mufakat.server.http.views import event as as_json
from mufakat.services import ids
from mufakat.services.coordination import (
    credentials,
    inbox,
    lease_asking,
    lease_book,
    lease_refusal,
    lease_steps,
    marks,
    states,
)
from mufakat.services.coordination.leases import Leases
from mufakat.storage import leases, writer

TENTH = 10
BETWEEN = 0.01
"""Seconds between looking and acting in the faulty build, so that a short test meets it."""

BEFORE_COMMIT = 0.1
ARMED = "armed"


def tenth() -> None:
    """Leases live a tenth of what is asked for: nobody may ask for less than five seconds."""
    policy.ttl = lambda rules, asked, *, high_traffic: asked // TENTH


def check_then_act() -> None:
    """A fault: asking for a lease looks in one step and takes in another."""

    async def acquire(self: Any, by: Any, request: Any, *, key: str = "") -> Any:
        asking.check(request)

        def look(tx: Transaction) -> tuple[Waiter, Any]:
            rules = self._rulebook.edition().policy
            wanted = lease_asking.wanted(tx, by, request, rules).wanted
            entry = Waiter(ids.new("l", tx.now()), wanted, tx.now(), Millis(tx.now()))
            book = lease_book.near(tx, wanted, rules)
            return entry, lease_steps.decide(entry, book, rules, now=tx.now())

        def act(tx: Transaction) -> Any:
            if isinstance(answer, Renewed):
                tx.leases.keep(answer.lease)
                return answer.lease
            return lease_book.grant(tx, entry.id, entry.wanted, Rule.FREE)

        entry, answer = await self._store.read(look)
        if isinstance(answer, Held):
            raise lease_refusal.as_error(answer)
        await asyncio.sleep(BETWEEN)
        return await self._store.write(act)

    Leases.acquire = acquire


def early() -> None:
    """A fault: callers hear that it is done a moment before it is on disk."""
    honest = writer._Batch.finish

    def finish(self: Any, *given: Any, **more: Any) -> None:
        honest(self, *given, **more)
        self.answer()
        time.sleep(BEFORE_COMMIT)
        self._done.clear()
        self._failed.clear()

    writer._Batch.finish = finish


class Hub:
    """Hands the log on to queues."""

    def __init__(self) -> None:
        self.queues: list[asyncio.Queue[Any]] = []
        self.pump: asyncio.Task[None] | None = None

    def begin(self, feed: Any, at: Revision) -> None:
        if self.pump is None:
            self.pump = asyncio.create_task(self.run(feed, at))

    async def run(self, feed: Any, at: Revision) -> None:
        while True:
            await feed.wait(at, seconds=60)
            for one in await feed.after(at, limit=1_000):
                at = one.revision
                for queue in self.queues:
                    queue.put_nowait(one)


def hand_over() -> None:
    """A fault: a stream replays the log and then follows a queue that it joins only after that."""
    hub = Hub()

    async def follow(self: Any, send: Any) -> None:
        hub.begin(self.feed, self.log.head)
        await self._write(send, b": ping\n\n")
        while await self._look(send, self.log.head):
            continue
        await asyncio.sleep(BETWEEN)
        queue: asyncio.Queue[Any] = asyncio.Queue()
        hub.queues.append(queue)
        while True:
            one = await queue.get()
            if not self.wanted.kinds or one.kind in self.wanted.kinds:
                row = as_json(one, self.log.epoch)
                await self._write(send, frame(row["kind"], row["id"], row))

    EventStream._follow = follow


def no_cap() -> None:
    """A fault: a turn is held as long as there is mail."""
    gate.BLOCKS = sys.maxsize


POINTS: Mapping[str, tuple[Any, str, bool]] = {
    "taken": (writer._Batch, "take", False),
    "steps_done": (writer._Batch, "finish", False),
    "before_commit": (writer._Batch, "finish", True),
    "after_commit": (writer._Batch, "answer", False),
    "answered": (writer._Batch, "answer", True),
    "before_reply": (reply.Json, "__call__", False),
    "before_telling": (EventStream, "_write", False),
    "authenticated": (credentials, "principal", True),
    "fenced": (leases.Leases, "next_fence", True),
    "granted": (lease_book, "grant", True),
    "ended": (lease_book, "finish", False),
    "delivered": (inbox, "deliver", True),
    "acknowledged": (marks, "advance", False),
    "reported": (states, "settle", True),
}
"""Where a server can be killed: whose function, and whether before or after it."""


def die(point: str, number: int, armed: Path) -> None:
    """Kill this process at a point."""
    owner, name, after = POINTS[point]
    honest = getattr(owner, name)
    left = number

    def count() -> None:
        nonlocal left
        if armed.exists():
            left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    def passed(*given: Any, **more: Any) -> Any:
        if not after:
            count()
        result = honest(*given, **more)
        if after:
            count()
        return result

    setattr(owner, name, passed)


CHANGES: Mapping[str, Callable[[], None]] = {
    "tenth": tenth,
    "check_then_act": check_then_act,
    "early": early,
    "hand_over": hand_over,
    "no_cap": no_cap,
}


if __name__ == "__main__":
    for change in filter(None, sys.argv[1].split(",")):
        if change.startswith("die="):
            place, _, times = change.removeprefix("die=").partition(":")
            die(place, int(times), Path(sys.argv[sys.argv.index("--home") + 1]) / ARMED)
        else:
            CHANGES[change]()
    sys.exit(main(sys.argv[2:]))
