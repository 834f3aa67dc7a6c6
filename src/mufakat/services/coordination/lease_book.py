"""The book of leases inside one step: what ends, what passes on, and who gets it next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict, lease_end, lease_grant, lease_queue
from mufakat.core.coordination.lease import (
    CLAIM,
    Book,
    Cause,
    Granted,
    Held,
    Lease,
    Renewed,
    Rule,
    Waiter,
    Wanted,
)
from mufakat.core.coordination.lease_conflict import Claim
from mufakat.core.coordination.lease_end import Ended
from mufakat.core.coordination.policy import Policy
from mufakat.core.coordination.state import State
from mufakat.ports.store import Transaction
from mufakat.services import ids
from mufakat.services.coordination import lease_log

PASSES_ON = frozenset({Cause.EXPIRED, Cause.CRASHED})
"""Ends after which a deputy steps in."""


def load(tx: Transaction, rules: Policy) -> Book:
    """Everything that is held, and everybody who waits."""
    return Book(tx.leases.live(), tx.leases.waiters(), rules.aging)


def near(tx: Transaction, wanted: Wanted, rules: Policy) -> Book:
    """As much of the book as a request for these resources depends on."""
    waiters = tx.leases.waiters()
    held = tx.leases.live() if waiters else tx.leases.touching(wanted.resources)
    return Book(held, waiters, rules.aging)


def grant(tx: Transaction, id: str, wanted: Wanted, rule: Rule, *, claim: int = 0) -> Lease:
    """Give a lease out under new fences, and announce it."""
    fences = [tx.leases.next_fence(key) for key in wanted.resources]
    lease = lease_grant.grant(id, wanted, fences, now=tx.now(), claim=claim)
    tx.leases.keep(lease)
    lease_log.changed(tx, "lease.granted", lease, rule, claim_until=lease.claim_until)
    return lease


def finish(tx: Transaction, rules: Policy, ends: Sequence[Ended]) -> None:
    """Record ends, let deputies step in, then give what is free to the queue."""
    for end in ends:
        tx.leases.keep(end.lease)
        lease_log.ended(tx, end.lease, end.rule)
    left = [end.lease for end in ends if end.rule is not Rule.NOT_CLAIMED]
    for lease in left:
        if lease.cause in PASSES_ON:
            _to_deputy(tx, rules, lease)
    settle(tx, rules, left=left)


def expire(tx: Transaction, rules: Policy, *, settling: bool = False) -> None:
    """End what is over by time, and let go who waited long enough.

    With `settling` the queue is looked at even where nothing ended: a rest may be over.
    """
    now, due = tx.now(), tx.leases.earliest()
    if due is None or due > now:
        if settling:
            settle(tx, rules)
        return
    book = load(tx, rules)
    for waiter in lease_end.given_up(book, now):
        tx.leases.dequeue(waiter.id)
    book = replace(book, waiters=[one for one in book.waiters if one.until > now])
    over = list(lease_end.overdue(book, now))
    taken = list(_preempted(tx, book, now))
    for end in taken:
        tx.leases.keep(end.lease)
        lease_log.ended(tx, end.lease, end.rule)
    for waiter in _takers(book, taken, now):
        _give(tx, load(tx, rules), waiter, left=[end.lease for end in taken])
    finish(tx, rules, over)


def settle(tx: Transaction, rules: Policy, *, left: Sequence[Lease] = ()) -> None:
    """Grant to everybody in the queue whose turn it is, in order."""
    waiters = tx.leases.waiters()
    if not waiters:
        return
    now = tx.now()
    claims = [*_whole(left), *_rested(tx, waiters)]
    book = Book(tx.leases.live(), waiters, rules.aging)
    for waiter in lease_queue.ordered(book):
        answer = lease_grant.decide(waiter, book, now=now)
        match answer:
            case Granted():
                book = replace(book, leases=[*book.leases, _hand(tx, waiter, claims)])
            case Renewed():
                # They have it already by another request; this one asks again and finds it.
                tx.leases.dequeue(waiter.id)
            case Held():
                continue
        book = replace(book, waiters=[one for one in book.waiters if one.id != waiter.id])


def preempt(
    tx: Transaction,
    lease: Lease,
    asker: Wanted,
    rule: Rule,
    *,
    at: Millis | None,
    once: bool = True,
) -> Lease:
    """Ask a lease back; at `at` it passes on by itself, where that is given.

    `once` is whether its holder may still put that off.
    """
    if at is not None:
        lease = replace(lease, preempt_at=at)
        tx.leases.keep(lease)
    lease_log.asked_back(tx, lease, asker, rule, deadline=at, once=once)
    return lease


def _preempted(tx: Transaction, book: Book, now: Millis) -> Iterable[Ended]:
    for lease in book.leases:
        if lease.preempt_at is None or lease.preempt_at > now:
            continue
        if not lease_conflict.live(lease, now):
            continue
        if lease_end.preempted(lease, book, now) is None:
            tx.leases.keep(replace(lease, preempt_at=None))
        else:
            yield Ended(lease_end.end(lease, Cause.STOLEN, now=now), Rule.PREEMPT_GRACE)


def _takers(book: Book, taken: Sequence[Ended], now: Millis) -> list[Waiter]:
    """Those for whom leases were taken, each once, in order."""
    by_id = {lease.id: lease for lease in book.leases}
    found = [lease_end.preempted(by_id[end.lease.id], book, now) for end in taken]
    return list({one.id: one for one in found if one is not None}.values())


def _give(tx: Transaction, book: Book, waiter: Waiter, *, left: Sequence[Lease]) -> None:
    """Grant to an entry before the rest of the queue, unless somebody still holds a part."""
    if not lease_conflict.blocked(book, waiter.wanted, tx.now()):
        _hand(tx, waiter, _whole(left))


def _hand(tx: Transaction, waiter: Waiter, left: Sequence[Claim]) -> Lease:
    tx.leases.dequeue(waiter.id)
    lease = grant(tx, waiter.id, waiter.wanted, Rule.FROM_QUEUE, claim=CLAIM)
    for claim in left:
        if lease_end.takes_over(waiter, claim):
            lease_log.passed_on(tx, lease, claim.wanted, Rule.FROM_QUEUE)
    return lease


def _whole(left: Sequence[Lease]) -> list[Claim]:
    return [Claim(lease.wanted, lease.wanted.resources, lease) for lease in left]


def _rested(tx: Transaction, waiters: Sequence[Waiter]) -> list[Claim]:
    """What has rested while somebody waited for it, and nobody had since."""
    since = min(waiter.enqueued for waiter in waiters)
    return [lease_end.left_over(lease, tx.leases.fence) for lease in tx.leases.rested(since)]


def _to_deputy(tx: Transaction, rules: Policy, ended: Lease) -> None:
    wanted = lease_grant.heir(ended)
    if wanted is None:
        return
    there = tx.instances.get(wanted.holder)
    if there is None or there.standing.state is State.OFFLINE:
        return
    now = tx.now()
    held = [one for one in load(tx, rules).leases if lease_conflict.live(one, now)]
    if lease_conflict.blocked(Book(held), wanted, now):
        return
    claim = lease_grant.step_in(ended, now=now)
    lease = grant(tx, ids.new("l", now), wanted, Rule.DEPUTY, claim=claim)
    lease_log.passed_on(tx, lease, ended.wanted, Rule.DEPUTY)
