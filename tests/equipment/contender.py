"""Agents that fight for leases over HTTP and write down what they asked and what they heard."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from equipment.linear import Operation
from equipment.live_server import Away, Caller, LiveServer, Lost, Workers
from equipment.start_server import TENTH

LONG = 60
"""What is asked for by those who wait: a grant must not be over before it is heard of."""
SERVER = -9


@dataclass(frozen=True, slots=True)
class Grant:
    """A lease that is believed to be held."""

    id: str
    fence: int
    ttl: int


@dataclass
class Arena:
    """Where they fight; `history` is by resource, empty for what happened to all of them."""

    resources: Sequence[str]
    ttls: Sequence[int]
    """Asked for, in seconds; the server gives a tenth."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Contenders by identity."""
    history: list[tuple[str, Operation]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


@dataclass
class Contender:
    """One agent; it holds at most one resource, and calls about no other meanwhile."""

    arena: Arena
    caller: Caller
    number: int
    dice: random.Random
    resource: str = ""
    stale: dict[str, Grant] = field(default_factory=dict)

    def run(self) -> None:
        try:
            while not self.arena.over.is_set():
                self.round()
                time.sleep(self.dice.random() * 0.02)
        finally:
            self.caller.hang_up()

    def round(self) -> None:
        self.resource = self.dice.choice(self.arena.resources)
        before = self.stale.get(self.resource)
        if before is not None and self.dice.random() < 0.2:
            self.check(before)
        grant = self.acquire()
        if grant is not None:
            self.stale[self.resource] = grant
            self.hold(grant)

    def hold(self, grant: Grant) -> None:
        """Use it, and be sure that it is no longer ours in the end."""
        for _ in range(self.dice.randrange(3)):
            time.sleep(self.dice.random() * 0.05)
            if not (self.renew(grant) if self.dice.random() < 0.5 else self.check(grant)):
                return
        if self.dice.random() < 0.15 and grant.ttl < LONG:
            self.arena.over.wait(1.3 * grant.ttl / TENTH)
            if self.dice.random() < 0.5:
                self.renew(grant)
        # After a lost answer nobody knows whether it was released.
        if self.release(grant) is None and self.check(grant):
            self.hold(grant)

    def acquire(self) -> Grant | None:
        """Ask until there is an answer; None where somebody else has it."""
        wait = 2 if self.dice.random() < 0.2 else 0
        ttl = LONG if wait else self.dice.choice(self.arena.ttls)
        body = {"resources": [self.resource], "ttl": ttl, "wait": wait}
        while True:
            answer = self.ask("acquire", "/leases", body, {"ttl": ttl / TENTH, "wait": wait})
            if answer is None:
                continue
            if not answer:
                return None
            return Grant(answer["id"], answer["fence"], ttl)

    def renew(self, grant: Grant) -> bool:
        given = {"id": grant.id, "fence": grant.fence, "ttl": grant.ttl / TENTH}
        body = {"fence": grant.fence, "ttl": grant.ttl}
        answer = self.ask("renew", f"/leases/{grant.id}/renew", body, given)
        return self.check(grant) if answer is None else bool(answer)

    def release(self, grant: Grant) -> bool | None:
        given = {"id": grant.id, "fence": grant.fence}
        path = f"/leases/{grant.id}/release"
        answer = self.ask("release", path, {"fence": str(grant.fence)}, given)
        return None if answer is None else bool(answer)

    def check(self, grant: Grant) -> bool:
        given = {"fence": grant.fence}
        body = {"resource": self.resource, "fence": grant.fence}
        while (answer := self.ask("check", "/leases/check", body, given)) is None:
            continue
        return bool(answer["valid"])

    def ask(self, what: str, path: str, body: Any, given: Any) -> Any:
        """Ask once, when the server is there; None where the answer was lost."""
        while True:
            call = time.monotonic()
            try:
                status, found = self.caller.ask("POST", path, body)
            except Away:
                time.sleep(0.05)
                continue
            except Lost:
                status, found = 503, None
            back = time.monotonic()
            if status == 503:
                # It may have had its effect: the interval stays open.
                self.note(Operation(self.number, call, math.inf, what, given))
                return None
            result = self.heard(what, status, found)
            self.note(Operation(self.number, call, back, what, given, result))
            return result

    def heard(self, what: str, status: int, found: Any) -> Any:
        """An answer as the model knows it."""
        match what, status, found:
            case "acquire", 201, {"id": id, "fences": fences}:
                return {"id": id, "fence": int(fences[self.resource])}
            case "acquire", 409, {"code": "held"}:
                return False
            case "renew", 200, _:
                return True
            case "renew", 409, {"code": "lease_lost"}:
                return False
            case "release", 200, {"answer": answer}:
                return answer == "ok"
            case "check", 200, {"valid": valid, "holder": holder}:
                return {"valid": valid, "holder": self.arena.numbers[holder] if holder else -1}
        raise AssertionError((what, status, found))

    def note(self, one: Operation) -> None:
        self.arena.history.append((self.resource, one))


def fight(
    server: LiveServer, arena: Arena, contenders: int, *, seconds: float, operations: int = 0
) -> None:
    """Let them fight, kill the server once in the middle, and start it again.

    With `operations` each half goes on until there are half as many.
    """
    dice = random.Random()
    seed = dice.randrange(1 << 32)
    print("seed", seed)
    dice.seed(seed)
    fighters = []
    for number in range(contenders):
        caller = server.join("codex", session=f"s-{number}")
        arena.numbers[caller.identity] = number
        fighters.append(Contender(arena, caller, number, random.Random(dice.random())))
    workers = Workers()
    workers.over = arena.over
    for fighter in fighters:
        workers.add(fighter.run)
    _until(arena, seconds / 2, operations // 2)
    begin = time.monotonic()
    server.kill()
    server.start()
    everywhere = Operation(SERVER, begin, time.monotonic(), "start")
    arena.history.append(("", everywhere))
    _until(arena, seconds / 2, operations)
    workers.join()


def _until(arena: Arena, seconds: float, operations: int) -> None:
    end = time.monotonic() + seconds
    longest = end + 300
    while time.monotonic() < longest and not arena.over.is_set():
        if time.monotonic() > end and len(arena.history) >= operations:
            return
        time.sleep(0.1)
