"""Leases for doors, and what other services do with them inside their own steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mufakat.core import base
from mufakat.core.base import InvalidInput, MufakatError, NotAllowed
from mufakat.core.coordination import (
    asking,
    identity,
    lease_conflict,
    lease_end,
    lease_queue,
    policy,
    resource,
)
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.lease import (
    Book,
    Cause,
    Deadlock,
    Held,
    Holder,
    Lease,
    Lost,
    Rule,
    Waiter,
    Wanted,
)
from mufakat.core.coordination.policy import Policy, Refused
from mufakat.core.coordination.principal import Principal
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import idempotency
from mufakat.services.coordination import (
    lease_asking,
    lease_book,
    lease_holding,
    lease_log,
    lease_refusal,
    lease_steps,
    pause,
)
from mufakat.services.coordination.lease_steps import Reply
from mufakat.services.coordination.lease_waiting import Line
from mufakat.services.coordination.pace import Pace
from mufakat.services.coordination.rulebook import Rulebook


def expire(tx: Transaction, rules: Policy = policy.DEFAULT) -> None:
    """End what is over by time and give it to whoever comes next; for the timer."""
    lease_book.expire(tx, rules, settling=True)


def end_of(tx: Transaction, who: str, cause: Cause, rules: Policy = policy.DEFAULT) -> None:
    """End everything that somebody holds or waits for: they left, or are dead for certain."""
    lease_holding.end_of(tx, who, cause, rules)


def touch(tx: Transaction, who: str, rules: Policy = policy.DEFAULT) -> None:
    """Renew the caller's leases that are past half their time; no heartbeat is needed."""
    lease_holding.touch(tx, who, rules)


def held_by(tx: Transaction, who: str) -> Sequence[Lease]:
    """What somebody holds now, oldest first."""
    now = tx.now()
    return [one for one in tx.leases.of(who) if lease_conflict.live(one, now)]


def blocking(tx: Transaction, who: str, path: str) -> Holder | None:
    """Who holds a file, an absolute path, that somebody is about to change."""
    now, key = tx.now(), resource.of_path(path)
    for one in lease_holding.guard(tx, who, [key], now):
        claim = lease_conflict.Claim(one.wanted, one.wanted.resources, one)
        where = lease_conflict.clash(Wanted(who, (key,)), claim)
        return lease_conflict.holder(claim, where, now)
    return None


def free(tx: Transaction, owner: str, id: str) -> None:
    """Release a lease on behalf of its holder or of a person, whatever its fence."""
    lease = lease_holding.get(tx, id)
    person = (found := identity.parse(owner)) is not None and found.engine == identity.PERSON
    if lease.wanted.holder != owner and not person:
        raise NotAllowed(f"Lease {lease.id} is not {owner}'s.", fix="Name one of its own.")
    cause = Cause.RELEASED if lease.wanted.holder == owner else Cause.REVOKED
    ended = lease_end.release(lease, lease.fences[0], now=tx.now(), cause=cause)
    if ended is not None:
        rule = Rule.HOLDER if cause is Cause.RELEASED else Rule.OPERATOR
        lease_book.finish(tx, policy.DEFAULT, [lease_end.Ended(ended, rule)])


def grace(tx: Transaction) -> None:
    """When the server starts: holders could not renew meanwhile, and nobody waits any more.

    It must come before anything that ends leases.
    """
    now = tx.now()
    for waiter in tx.leases.waiters():
        tx.leases.dequeue(waiter.id)
    for lease in tx.leases.live():
        if lease.ended is None:
            longer = lease_end.after_start(lease, now)
            tx.leases.keep(longer)
            if longer.expires != lease.expires:
                lease_log.changed(tx, "lease.renewed", longer, Rule.AFTER_START)


class Leases:
    """Gives leases out, one step of the store at a time."""

    def __init__(
        self,
        store: Store,
        rulebook: Rulebook,
        *,
        scrub: Scrub,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` in seconds; it only paces requests, and decides about no lease."""
        self._store = store
        self._rulebook = rulebook
        self._scrub = scrub
        self._pace = Pace(clock)
        self._line = Line(store, lambda tx, entry: lease_steps.withdraw(tx, entry, rulebook.of(tx)))

    async def acquire(self, by: Principal, request: Request, *, key: str = "") -> Lease:
        """Get a lease on everything that is asked for, at once or after waiting in the queue.

        The same key and request answer the same lease again, also where it has ended since.
        Raises InvalidInput, Held, Deadlock, TooBroad, TooMany, Paused, IdempotencyConflict.
        """
        asking.check(request)
        self._pace.take(by, self._rulebook.edition().policy.acquires)
        request = replace(
            request, resources=await lease_asking.spelled(self._store, by, request.resources)
        )
        attempt = _Attempt(by, request, f"lease/{by.identity}/{key}" if key else "")
        answer = await self._line.enter(
            lambda tx: self._ask(tx, attempt), lambda tx, entry: self._claim(tx, attempt, entry)
        )
        return _taken(answer)

    async def renew(
        self, by: Principal, id: str, fence: int, ttl_seconds: float = asking.TTL_SECONDS
    ) -> Lease:
        """More time for a lease, or the claim of a grant; raises LeaseLost, NotAllowed."""
        ttl = asking.milliseconds(ttl_seconds)

        def step(tx: Transaction) -> Lease | Lost | Held | MufakatError:
            rules = self._rulebook.of(tx)
            wish = policy.ttl(rules, ttl, high_traffic=self._rulebook.busy)
            return lease_holding.renew(tx, by, id, fence, ttl=wish, rules=rules)

        return _taken(await self._store.write(step))

    async def release(self, by: Principal, id: str, fence: int) -> str:
        """Give a lease back: `ok`, or `gone` where it was over; raises NotAllowed, NotFound."""
        answer = await self._store.write(
            lambda tx: lease_holding.release(tx, by, id, fence, rules=self._rulebook.of(tx))
        )
        if isinstance(answer, MufakatError):
            raise answer
        return "ok" if answer else "gone"

    async def transfer(self, by: Principal, id: str, fence: int, to: str) -> Lease:
        """Hand a lease over under a new fence; raises LeaseLost, NotAllowed, NotFound."""
        answer = await self._store.write(
            lambda tx: lease_holding.transfer(tx, by, id, fence, to=to, rules=self._rulebook.of(tx))
        )
        return _taken(answer)

    async def defer(self, by: Principal, id: str, fence: int, *, key: str = "") -> Lease:
        """Put off once that a lease passes to a higher class, by the policy's grace period.

        The same key answers the same lease again. Raises LeaseLost, Conflict, NotAllowed, NotFound.
        """
        answer = await self._store.write(
            lambda tx: lease_holding.defer(tx, by, id, fence, key=key, rules=self._rulebook.of(tx))
        )
        return _taken(answer)

    async def steal(
        self,
        by: Principal,
        resources: Sequence[str],
        reason: str,
        ttl_seconds: float = asking.TTL_SECONDS,
    ) -> Lease:
        """Take resources at once, for the operator alone; raises NotAllowed, InvalidInput."""
        if not by.operator:
            data = {"act": "steal", "resources": list(resources)}
            event = base.Event("access.refused", by.identity, data)
            await self._store.write(lambda tx: tx.events.record(event))
            raise NotAllowed("Only the operator takes leases from others.")
        if not reason.strip():
            raise InvalidInput("Say why: the reason stands in the log.")
        request = Request(tuple(resources), ttl_seconds=ttl_seconds, reason=reason)
        asking.check(request)
        spelled = await lease_asking.spelled(self._store, by, request.resources)

        def step(tx: Transaction) -> Lease:
            rules = self._rulebook.of(tx)
            asked = lease_asking.wanted(tx, by, replace(request, resources=spelled), rules)
            why = self._scrub(asked.wanted.reason).text
            return lease_holding.steal(tx, asked.wanted, rules=rules, reason=why)

        return await self._store.write(step)

    async def check(self, resource: str, fence: int) -> tuple[bool, str]:
        """Whether a fence holds now, and who holds the resource; decided by the writer."""
        return await self._store.write(
            lambda tx: lease_holding.check(tx, resource, fence, rules=self._rulebook.of(tx))
        )

    async def touch(self, by: Principal) -> None:
        """Renew what of the caller's is past half its time."""
        await self._store.write(lambda tx: touch(tx, by.identity, self._rulebook.of(tx)))

    async def list(self, *, holder: str = "", resource: str = "") -> Sequence[Lease]:
        """Live leases, oldest first."""
        return await self._store.read(lambda tx: _live(tx, holder, resource))

    async def get(self, id: str) -> Lease:
        """One lease, ended or not, by its id or a unique prefix; raises NotFound."""
        return await self._store.read(lambda tx: lease_holding.get(tx, id))

    async def queue(self) -> Sequence[Waiter]:
        """Everybody who waits, in the order in which they are served."""
        rules = self._rulebook.edition().policy

        def query(tx: Transaction) -> Sequence[Waiter]:
            return lease_queue.ordered(Book(waiters=tx.leases.waiters(), aging=rules.aging))

        return await self._store.read(query)

    async def guard(self, by: Principal, paths: Sequence[str]) -> Holder | None:
        """Who stands in the way of a change of these files, if anybody."""
        spelled = await lease_asking.literal(self._store, by, paths)

        def query(tx: Transaction) -> Holder | None:
            found = (blocking(tx, by.identity, path) for path in spelled)
            return next((one for one in found if one is not None), None)

        return await self._store.read(query)

    def _ask(self, tx: Transaction, attempt: _Attempt) -> Reply:
        pause.refuse(tx, attempt.by)
        known = idempotency.earlier(tx, attempt.key, attempt.digest)
        if known:
            return lease_holding.get(tx, known)
        rules = self._rulebook.of(tx)
        busy = self._rulebook.high_traffic(tx, len(tx.leases.waiters()))
        asked = lease_asking.wanted(tx, attempt.by, attempt.request, rules, high_traffic=busy)
        answer = lease_steps.ask(tx, asked, rules)
        if isinstance(answer, Lease):
            self._rulebook.waited(tx.now(), 0)
            idempotency.keep(tx, attempt.key, attempt.digest, answer.id)
        return answer

    def _claim(self, tx: Transaction, attempt: _Attempt, entry: Waiter) -> Reply:
        rules, now = self._rulebook.of(tx), tx.now()
        answer = lease_steps.claim(tx, entry, rules)
        if isinstance(answer, Lease):
            self._rulebook.waited(now, now - entry.enqueued)
            idempotency.keep(tx, attempt.key, attempt.digest, answer.id)
        return answer


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One call of `acquire`."""

    by: Principal
    request: Request
    key: str

    @property
    def digest(self) -> str:
        asked = self.request
        return idempotency.digest(
            "lease",
            self.by.identity,
            sorted(set(asked.resources)),
            asked.mode,
            asked.slots,
            asked.ttl_seconds,
            asked.reason,
            asked.next_step,
            asked.deputy,
            asked.rank,
        )


def _live(tx: Transaction, holder: str, wanted: str) -> Sequence[Lease]:
    now = tx.now()
    return [
        one
        for one in tx.leases.live()
        if lease_conflict.live(one, now)
        and holder in {"", one.wanted.holder}
        and (not wanted or any(_means(wanted, key) for key in one.wanted.resources))
    ]


def _means(wanted: str, key: str) -> bool:
    try:
        return wanted == key or resource.overlap(wanted, key)
    except ValueError:
        return False


def _taken(
    answer: Lease | Waiter | Held | Deadlock | Refused | Lost | MufakatError,
) -> Lease:
    match answer:
        case Lease():
            return answer
        case Waiter():
            raise AssertionError("an entry of the queue is no answer")
        case _:
            raise lease_refusal.as_error(answer)
