"""Consumers of the event log that resume behind the id they heard last, cut after cut."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any
from urllib.parse import urlencode

from equipment.books import Seen, same
from equipment.live_server import API, LiveServer
from mufakat.sdk import sse

PATIENCE = 5.0
"""Seconds without a byte after which a connection is given up."""


class Refused(AssertionError):
    """The server did not take the cursor that it gave itself."""


@dataclass
class Follower:
    """One consumer; `seen` holds events in the order in which they came."""

    server: LiveServer
    token: str
    over: Event
    dice: random.Random
    poll: bool = False
    kinds: Sequence[str] = ()
    cuts_wanted: int = 0
    bytes_each: int = 6_000
    """At most so much of a stream before it is cut by the consumer itself."""
    until: int = 0
    """The last revision that is to come, once `over` is set."""
    cursor: str = ""
    seen: list[Seen] = field(default_factory=list)
    cuts: int = 0
    seconds: float = 120.0
    """From `over` on; what has not come by then is missed."""
    ends: float = 0.0

    def run(self) -> None:
        while not self.done():
            try:
                self.once()
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)

    def done(self) -> bool:
        if not self.over.is_set():
            return False
        self.ends = self.ends or time.monotonic() + self.seconds
        whole = bool(self.seen) and self.seen[-1][0] >= self.until and self.cuts >= self.cuts_wanted
        return whole or time.monotonic() > self.ends

    def once(self) -> None:
        """One connection."""
        if not self.server.port:
            raise OSError("nobody listens")
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        before = self.cursor
        try:
            for id, record in self.polled(connection) if self.poll else self.streamed(connection):
                self.cursor = id
                if record is not None:
                    data = same(record["data"])
                    self.seen.append((record["revision"], record["kind"], record["subject"], data))
        finally:
            connection.close()
            # A connection that brought nothing is no cut.
            self.cuts += self.cursor != before

    def polled(self, connection: http.client.HTTPConnection) -> Iterator[tuple[str, Any]]:
        limit = self.dice.randint(1, 40)
        answer = self.ask(connection, {"after": self.cursor, "wait": 1, "limit": limit}, {})
        page = json.loads(answer.read())
        yield from ((event["id"], event) for event in page["events"])
        yield page["next"], None

    def streamed(self, connection: http.client.HTTPConnection) -> Iterator[tuple[str, Any]]:
        parser = sse.Parser(last_id=self.cursor)
        headers = {"Last-Event-ID": self.cursor} if self.cursor else {}
        budget = self.dice.randint(1, self.bytes_each)
        answer = self.ask(connection, {"follow": "1"}, headers)
        while budget > 0 and (piece := answer.read1(min(budget, 4096))):
            budget -= len(piece)
            for one in parser.feed(piece):
                assert one.event != "reset", "the log began anew"
                yield one.id, None if one.event == "progress" else json.loads(one.data)
            if self.done():
                return

    def ask(
        self, connection: http.client.HTTPConnection, query: dict[str, Any], headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        query = query | ({"kinds": ",".join(self.kinds)} if self.kinds else {})
        headers = headers | {"Authorization": f"Bearer {self.token}"}
        connection.request("GET", f"{API}/events?{urlencode(query)}", headers=headers)
        answer = connection.getresponse()
        if answer.status == 503:
            raise OSError("not now")
        if answer.status != 200:
            raise Refused(answer.read())
        return answer


def among(follower: Follower, log: Sequence[Seen]) -> list[Seen]:
    """What of a log the follower has to have seen: it stops where it is told to, or behind it."""
    last = max([follower.until, *(one[0] for one in follower.seen)])
    return [one for one in log if one[0] <= last]


def faults(follower: Follower, log: Sequence[Seen]) -> dict[str, int]:
    """The check itself: what it missed, saw twice, or saw though nothing of it is in the log."""
    wanted = [one for one in log if not follower.kinds or one[1] in follower.kinds]
    known = set(wanted)
    revisions = [one[0] for one in follower.seen]
    found = {
        "missed": len(known - set(follower.seen)),
        "phantom": len(set(follower.seen) - known),
        "twice": len(revisions) - len(set(revisions)),
        "disorder": int(revisions != sorted(revisions)),
    }
    return {name: count for name, count in found.items() if count}
