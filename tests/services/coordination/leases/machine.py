"""Random histories of leases over the real store, held against the model after every step."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import Phase, note, settings
from hypothesis import strategies as some
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mufakat.core.base import MufakatError
from mufakat.core.coordination import policy
from mufakat.core.coordination.lease import Cause, Deadlock, Held, Lease, Lost, Waiter
from mufakat.core.coordination.policy import Class, Preemption
from mufakat.core.coordination.principal import Principal, Right
from mufakat.ports.store import Transaction
from mufakat.services.coordination import lease_holding, lease_steps, leases
from mufakat.services.coordination.lease_asking import Asked
from services.coordination.leases import model, wishes
from services.coordination.leases.model import Entry, Grant, Model, Wish
from services.coordination.leases.wishes import FENCE, HOLDER, RESOURCES, TTL, WAIT, WISH
from services.coordination.leases.world import World, empty, seen, world

T = TypeVar("T")
NEVER = Class(preemption=Preemption.NEVER)
RULES = dataclasses.replace(policy.DEFAULT, classes=(NEVER, NEVER, NEVER, NEVER))
FENCES = {"current": 0, "previous": -1, "next": 1}
SECONDS = [0.001, 1.0, 4.999, 5.0, 9.999, 10.0, 15.0, 29.999, 30.0, 60.0]


class LeaseMachine(RuleBasedStateMachine):
    """Every rule acts on the store and says what the model makes of it."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        self.seen = self.world.write(lambda tx: (empty(tx), seen(tx))[1])
        self.model = Model(self.seen[2], self.world.counters)
        # What earlier histories did to it must not show at the next real restart.
        self.world.readings.wall_ms = self.seen[2]
        self.pending: dict[str, Entry] = {}
        self.known: dict[str, Grant] = {}
        self.stale = False

    def act(self, step: Callable[[Transaction], T]) -> T:
        """One step on the store; what was overdue is over in the model from now on."""
        self.model.expire()
        self.stale = False
        answer, self.seen = self.world.write(lambda tx: (step(tx), seen(tx)))
        return answer

    def tick(self) -> None:
        self.act(lambda tx: leases.expire(tx, RULES))

    def adopt(self, lease: Lease) -> None:
        """A lease that the model expects, under the id that the store gave it."""
        self.model.grant(lease.id, wishes.wish_of(lease))

    def by(self, holder: str) -> Principal:
        return Principal(Right.AGENT, holder, epoch=1)

    def draw_lease(self, data: some.DataObject) -> Grant:
        # By place: ids are random, and a history must be the same when it is run again.
        live = [one for id, one in self.known.items() if id in self.model.grants]
        pool = live if live and data.draw(some.integers(0, 3)) else list(self.known.values())
        return pool[data.draw(some.integers(0, len(pool) - 1))]

    def draw_live(self, data: some.DataObject) -> Grant:
        pool = list(self.model.grants.values())
        return pool[data.draw(some.integers(0, len(pool) - 1))]

    def draw_entry(self, data: some.DataObject) -> Entry:
        pool = list(self.pending.values())
        return pool[data.draw(some.integers(0, len(pool) - 1))]

    def fence_of(self, grant: Grant, which: str) -> int:
        return grant.fences[0] + FENCES[which]

    def answered(self, expected: str, answer: Any, wish: Wish, wait: int) -> None:
        """The answer of the store to a request is the one that the model gave."""
        note(f"{expected} {answer}")
        match expected:
            case "granted" | "renewed":
                assert isinstance(answer, Lease), (expected, answer)
                if expected == "granted":
                    assert answer.id not in self.known, "a new lease under an old id"
                    self.adopt(answer)
            case "held":
                assert isinstance(answer, Held), (expected, answer)
            case "deadlock":
                assert isinstance(answer, Deadlock), (expected, answer)
            case "queued":
                self._queued(answer, wish, wait)

    def _queued(self, answer: Any, wish: Wish, wait: int) -> None:
        assert isinstance(answer, Waiter | Lease), answer
        entry = Entry(answer.id, wish, self.model.now, self.model.now + wait)
        self.model.queue.append(entry)
        self.model.settle()
        granted = self.model.grants.get(entry.id)
        if granted is not None:
            self.model.grants[entry.id] = dataclasses.replace(granted, claim_until=None)
        else:
            assert isinstance(answer, Waiter), "it is not its turn"
            self.pending[entry.id] = entry

    @rule(wish=WISH, wait=WAIT)
    def ask(self, wish: Wish, wait: int) -> None:
        self.request(wish, wait)

    @precondition(lambda self: self.known)
    @rule(data=some.data())
    def ask_again(self, data: some.DataObject) -> None:
        """As after a lost reply."""
        self.request(self.draw_lease(data).wish, 0)

    def request(self, wish: Wish, wait: int) -> None:
        asked = Asked(wishes.wanted(wish), wait)
        answer = self.act(lambda tx: lease_steps.ask(tx, asked, RULES))
        self.answered(self.model.ask(wish, wait), answer, wish, wait)

    @precondition(lambda self: self.model.grants)
    @rule(data=some.data(), holder=HOLDER, shared=some.booleans(), rank=some.sampled_from([0, 1]))
    def wait_for_what_is_held(
        self, data: some.DataObject, holder: str, shared: bool, rank: int
    ) -> None:
        wish = self.draw_live(data).wish
        mine = dataclasses.replace(
            wish, holder=holder, shared=shared and wish.slots == 1, rank=rank
        )
        self.request(mine, 600_000)

    @precondition(lambda self: self.model.queue)
    @rule(data=some.data(), holder=HOLDER, shared=some.booleans(), wait=WAIT)
    def ask_for_what_is_waited_for(
        self, data: some.DataObject, holder: str, shared: bool, wait: int
    ) -> None:
        wish = self.model.queue[data.draw(some.integers(0, len(self.model.queue) - 1))].wish
        part = data.draw(some.sampled_from(wish.resources))
        counted = wish.slots > 1
        mine = Wish(holder, (part,), shared and not counted, wish.slots, wish.ttl)
        self.request(mine, wait)

    @precondition(lambda self: len({one.wish.holder for one in self.model.grants.values()}) > 1)
    @rule(data=some.data())
    def want_what_the_other_has(self, data: some.DataObject) -> None:
        one, other = self.draw_live(data), self.draw_live(data)
        for mine, theirs in ((one, other), (other, one)):
            self.request(dataclasses.replace(theirs.wish, holder=mine.wish.holder), 600_000)

    @precondition(lambda self: self.model.grants)
    @rule(data=some.data(), off=some.sampled_from([-1, 0, 1]), calls=some.booleans())
    def time_comes_to_an_end(self, data: some.DataObject, off: int, calls: bool) -> None:
        grant = self.draw_live(data)
        self.time_passes(max(0, grant.expires + off - self.model.now) / 1000)
        if calls:
            self.call(grant.wish.holder)

    @precondition(lambda self: self.known)
    @rule(data=some.data(), which=FENCE, ttl=TTL)
    def renew(self, data: some.DataObject, which: str, ttl: int) -> None:
        grant = self.draw_lease(data)
        fence = self.fence_of(grant, which)
        answer = self.act(
            lambda tx: lease_holding.renew(
                tx, self.by(grant.wish.holder), grant.id, fence, ttl=ttl, rules=RULES
            )
        )
        now = self.model.grants.get(grant.id)
        if now is None:
            assert isinstance(answer, Lost), "what is over was renewed"
            assert answer.reason.value == self.model.over[grant.id]
        elif self.fence_of(grant, which) not in grant.fences:
            assert isinstance(answer, Lost), "a wrong fence renewed it"
        else:
            assert isinstance(answer, Lease), answer
            longer = self.model.prolong(now, ttl)
            self.model.grants[grant.id] = dataclasses.replace(longer, claim_until=None)

    @precondition(lambda self: self.known)
    @rule(data=some.data(), which=FENCE)
    def release(self, data: some.DataObject, which: str) -> None:
        grant = self.draw_lease(data)
        fence = self.fence_of(grant, which)
        by = self.by(grant.wish.holder)
        answer = self.act(lambda tx: lease_holding.release(tx, by, grant.id, fence, rules=RULES))
        live = grant.id in self.model.grants and self.fence_of(grant, which) in grant.fences
        assert answer is live, "released" if answer else "not released"
        if live:
            self.model.end(grant.id, "released")
            self.model.settle()

    @precondition(lambda self: self.known)
    @rule(data=some.data(), which=FENCE, to=HOLDER)
    def transfer(self, data: some.DataObject, which: str, to: str) -> None:
        grant = self.draw_lease(data)
        fence, by = self.fence_of(grant, which), self.by(grant.wish.holder)
        answer = self.act(
            lambda tx: lease_holding.transfer(tx, by, grant.id, fence, to=to, rules=RULES)
        )
        live = grant.id in self.model.grants and self.fence_of(grant, which) in grant.fences
        if not live:
            assert isinstance(answer, Lost), answer
        elif to == grant.wish.holder:
            assert isinstance(answer, MufakatError), answer
        elif self._elsewhere(grant, to):
            assert isinstance(answer, Held), answer
        else:
            assert isinstance(answer, Lease), answer
            self.model.end(grant.id, "transferred")
            self.adopt(answer)
            self.model.settle()

    def _elsewhere(self, grant: Grant, to: str) -> bool:
        others = [one.wish for one in self.model.grants.values() if one.id != grant.id]
        return model.meets(dataclasses.replace(grant.wish, holder=to), others)

    @rule(resources=RESOURCES)
    def steal(self, resources: tuple[str, ...]) -> None:
        wish = Wish("human@box:000001", resources, rank=2)
        lease = self.act(
            lambda tx: lease_holding.steal(tx, wishes.wanted(wish), rules=RULES, reason="test")
        )
        for one in list(self.model.grants.values()):
            if model.meets(wish, [one.wish]):
                self.model.end(one.id, "stolen")
        self.adopt(lease)
        self.model.settle()

    @precondition(lambda self: self.known)
    @rule(data=some.data(), which=FENCE)
    def check(self, data: some.DataObject, which: str) -> None:
        grant = self.draw_lease(data)
        key, fence = grant.wish.resources[0], self.fence_of(grant, which)
        valid, _ = self.act(lambda tx: lease_holding.check(tx, key, fence, rules=RULES))
        expected = any(
            (key, fence) in zip(one.wish.resources, one.fences, strict=True)
            for one in self.model.grants.values()
            if one.claim_until is None
        )
        assert valid is expected, "a dead fence passes" if valid else "a live fence is refused"

    @rule(holder=HOLDER)
    def call(self, holder: str) -> None:
        """Any authenticated call renews what is past half its time."""
        for one in list(self.model.grants.values()):
            left = one.expires - self.model.now
            mine = one.wish.holder == holder and one.claim_until is None and left > 0
            if mine and left < one.wish.ttl / 2:
                self.model.prolong(one, one.wish.ttl)
        self.world.write(lambda tx: leases.touch(tx, holder, RULES))
        self.tick()

    @precondition(lambda self: self.pending)
    @rule(data=some.data())
    def claim(self, data: some.DataObject) -> None:
        self._claim(self.draw_entry(data))

    @precondition(lambda self: self.pending)
    @rule()
    def everybody_claims(self) -> None:
        """However often they ask, nobody stays in a circle."""
        for _ in range(4):
            for entry in list(self.pending.values()):
                self._claim(entry)
        circles = [one for one in self.model.queue if self.model.deadlock(one.wish)]
        assert not circles, "they wait for each other for ever"

    def _claim(self, entry: Entry) -> None:
        waiter = wishes.waiter_of(entry)
        self.tick()
        answer = self.act(lambda tx: lease_steps.claim(tx, waiter, RULES))
        granted = self.model.grants.get(entry.id)
        if granted is not None:
            assert isinstance(answer, Lease) and answer.id == entry.id, answer
            self.model.grants[entry.id] = dataclasses.replace(granted, claim_until=None)
            del self.pending[entry.id]
        elif entry in self.model.queue:
            if isinstance(answer, Deadlock):
                assert self.model.deadlock(entry.wish), "there is no circle"
                self.model.queue.remove(entry)
                del self.pending[entry.id]
                self.tick()
            else:
                assert isinstance(answer, Waiter), answer
        else:
            del self.pending[entry.id]
            wait = max(0, entry.until - self.model.now)
            self.answered(self.model.ask(entry.wish, wait), answer, entry.wish, wait)

    @precondition(lambda self: self.pending)
    @rule(data=some.data())
    def withdraw(self, data: some.DataObject) -> None:
        entry = self.draw_entry(data)
        del self.pending[entry.id]
        waiter = wishes.waiter_of(entry)
        self.tick()
        self.act(lambda tx: lease_steps.withdraw(tx, waiter, RULES))
        self.model.queue = [one for one in self.model.queue if one.id != entry.id]
        granted = self.model.grants.get(entry.id)
        if granted is not None and granted.claim_until is not None:
            self.model.end(entry.id, "released")
        self.model.settle()

    @rule(holder=HOLDER)
    def die(self, holder: str) -> None:
        self.tick()
        self.act(lambda tx: leases.end_of(tx, holder, Cause.CRASHED, RULES))
        self.model.queue = [one for one in self.model.queue if one.wish.holder != holder]
        for one in list(self.model.grants.values()):
            if one.wish.holder == holder:
                self.model.end(one.id, "crashed")
        self.model.settle()

    @rule(seconds=some.sampled_from(SECONDS))
    def time_passes(self, seconds: float) -> None:
        self.world.readings.elapsed_ms += round(seconds * 1000)
        self.model.now += round(seconds * 1000)
        self.stale = True
        if self.model.queue or self.model.rests:
            self.tick()

    @rule(hours=some.sampled_from([-1, 1, 24]))
    def wall_clock_jumps(self, hours: int) -> None:
        self.world.readings.wall_ms += hours * 3_600_000

    @rule(really=some.sampled_from([True] + [False] * 15))
    def restart(self, really: bool) -> None:
        self.tick()
        away = 120_000
        self.world.readings.elapsed_ms += away
        if really:
            self.world.reopen()
        now = self.world.write(lambda tx: (leases.grace(tx), tx.now())[1])
        assert now >= self.model.now, "time goes back"
        self.model.now = now
        self.model.rests = [(wish, until) for wish, until in self.model.rests if until > now]
        self.model.restart()
        self.stale = True
        self.tick()

    @invariant()
    def the_store_is_as_the_model_says(self) -> None:
        if self.stale:
            return
        held, waiters, now = self.seen
        assert now == self.model.now, "the lease clock is another one"
        live = [one for one in held if one.ended is None]
        self._nobody_meets(live)
        found = {
            one.id: Grant(
                one.id, wishes.wish_of(one), one.fences, one.since, one.expires, one.claim_until
            )
            for one in live
        }
        assert found == self.model.grants
        assert [one.id for one in waiters] == [one.id for one in self.model.queue]
        self.known |= self.model.grants

    def _nobody_meets(self, live: list[Lease]) -> None:
        held = [wishes.wish_of(one) for one in live]
        for at, wish in enumerate(held):
            others = held[:at] + held[at + 1 :]
            assert not model.meets(wish, others), f"two hold one thing: {wish}"


def explore(*, examples: int, steps: int, shrink: bool = True, fixed: bool = True) -> None:
    """Run random histories, the same ones each time where `fixed`.

    The first that breaks a rule is raised, with the words that reproduce it.
    """
    phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
    with world() as made:
        machine = type("Machine", (LeaseMachine,), {"world": made})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                phases=phases,
                report_multiple_bugs=False,
                derandomize=fixed,
            ),
        )
