"""Agents that send, acknowledge, lease and report without a pause, and note what was promised."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from equipment.live_server import Away, Caller, LiveServer, Lost

SHARED = tuple(f"task:shared-{number}" for number in range(4))
OPEN_LETTERS = 20
HELD = 6
"""Leases of its own that an agent keeps at most."""


@dataclass
class Ledger:
    """What the server has said yes to."""

    over: threading.Event = field(default_factory=threading.Event)
    agents: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    """Texts of messages, each sent under one key; some without an answer yet."""
    sent: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Message and recipients, by text."""
    acked: set[tuple[str, int]] = field(default_factory=set)
    """Recipient and number."""
    granted: list[tuple[str, str, int]] = field(default_factory=list)
    """Lease, resource and fence."""
    released: set[str] = field(default_factory=set)
    held: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Resource and fence of leases that nobody has asked to release, by lease."""
    reported: dict[str, int] = field(default_factory=dict)
    """The number of the newest report, by identity."""
    reports: set[tuple[str, int]] = field(default_factory=set)
    """Identity and number."""

    def copy(self) -> Ledger:
        """As it is now, while agents go on."""
        return Ledger(
            tried=set(self.tried),
            sent=dict(self.sent),
            acked=set(self.acked),
            granted=list(self.granted),
            released=set(self.released),
            held=dict(self.held),
            reported=dict(self.reported),
            reports=set(self.reports),
        )

    @property
    def promises(self) -> int:
        return sum(map(len, (self.sent, self.acked, self.granted, self.released, self.reports)))


@dataclass
class BusyAgent:
    """One agent; what got no answer is asked again under the same key, as the SDK does."""

    ledger: Ledger
    caller: Caller
    dice: random.Random
    pause: float = 0.0
    """Seconds between two requests."""
    count: int = 0
    mine: list[str] = field(default_factory=list)

    def run(self) -> None:
        try:
            while not self.ledger.over.is_set():
                self.count += 1
                self.dice.choice((self.send, self.ack, self.lease, self.lease, self.report))()
                time.sleep(self.pause)
        except Away:
            return
        finally:
            self.caller.hang_up()

    @property
    def name(self) -> str:
        return self.caller.identity

    def send(self) -> None:
        text = f"{self.name} {self.count}"
        self.ledger.tried.add(text)
        others = [one for one in self.ledger.agents if one != self.name]
        to = self.dice.sample(others, self.dice.randint(1, 2))
        body = {"to": to, "body": text, "intent": self.dice.choice(("inform", "request"))}
        key = text.replace(" ", "-")
        status, found = self.insist("POST", "/messages", body, key=key)
        if status == 429:
            self.ledger.tried.discard(text)
            return
        assert status in {200, 201}, found
        self.ledger.sent[text] = (found["message"], tuple(found["recipients"]))

    def ack(self) -> None:
        try:
            status, found = self.caller.ask("GET", "/inbox", limit=OPEN_LETTERS)
            assert status in {200, 503}, found
            numbers = [one["number"] for one in (found.get("items") or ())]
            if not numbers:
                return
            status, found = self.caller.ask("POST", "/inbox/ack", {"numbers": numbers})
        except (Lost, Away):
            return
        # What was read in the server's life before has to be read again.
        assert status in {200, 503} or found["code"] == "bad_cursor", found
        if status == 200:
            self.ledger.acked.update((self.name, number) for number in numbers)

    def lease(self) -> None:
        if self.mine and (len(self.mine) >= HELD or self.dice.random() < 0.4):
            self.release(self.mine.pop(self.dice.randrange(len(self.mine))))
            return
        resource = f"task:{self.name.replace(':', '-')}-{self.dice.randrange(HELD)}"
        if self.dice.random() < 0.5:
            resource = self.dice.choice(SHARED)
        key = f"{self.name}-lease-{self.count}"
        status, found = self.insist("POST", "/leases", {"resources": [resource]}, key=key)
        if status == 409 and found["code"] == "held":
            return
        assert status == 201, found
        id, fence = found["id"], int(found["fences"][resource])
        if id not in self.mine:
            self.mine.append(id)
            self.ledger.granted.append((id, resource, fence))
            self.ledger.held[id] = (resource, fence)

    def release(self, id: str) -> None:
        _, fence = self.ledger.held.pop(id)
        status, found = self.insist("POST", f"/leases/{id}/release", {"fence": fence})
        assert status == 200, found
        self.ledger.released.add(id)

    def report(self) -> None:
        number = self.ledger.reported.get(self.name, 0) + 1
        state = self.dice.choice(("working", "idle"))
        body = {"state": state, "ordinal": number, "detail": str(number)}
        status, found = self.insist("PUT", "/agents/me/state", body)
        assert status == 200, found
        self.ledger.reported[self.name] = number
        self.ledger.reports.add((self.name, number))

    def insist(self, method: str, path: str, body: Any, *, key: str = "") -> tuple[int, Any]:
        return self.caller.insist(method, path, body, key=key, over=self.ledger.over)


def crowd(
    server: LiveServer,
    ledger: Ledger,
    count: int,
    dice: random.Random,
    *,
    project: str,
    **more: Any,
) -> Sequence[BusyAgent]:
    """Let agents join one project."""
    found = []
    for number in range(count):
        caller = server.join("codex", session=f"s-{number}", project=project)
        found.append(BusyAgent(ledger, caller, random.Random(dice.random()), **more))
        ledger.agents.append(caller.identity)
    return found
