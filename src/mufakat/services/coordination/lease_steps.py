"""Asking for a lease, step by step: granted, refused, or in the queue until it is claimed."""

from __future__ import annotations

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_conflict, lease_grant, lease_queue, policy
from mufakat.core.coordination.lease import (
    Book,
    Cause,
    Deadlock,
    Granted,
    Held,
    Lease,
    Renewed,
    Rule,
    Waiter,
    Wanted,
)
from mufakat.core.coordination.lease_end import Ended, end
from mufakat.core.coordination.policy import Policy, Preemption, Refused
from mufakat.ports.store import Transaction
from mufakat.services import ids
from mufakat.services.coordination import lease_book, lease_log, lease_refusal
from mufakat.services.coordination.lease_asking import Asked

Reply = Lease | Waiter | Held | Deadlock | Refused


def ask(tx: Transaction, asked: Asked, rules: Policy) -> Reply:
    """Answer a request: a lease, an entry of the queue, or why not."""
    lease_book.expire(tx, rules)
    now, wanted = tx.now(), asked.wanted
    if asked.refused is not None:
        return _refuse(tx, wanted, asked.refused)
    entry = Waiter(ids.new("l", now), wanted, now, Millis(now + asked.wait))
    book = lease_book.near(tx, wanted, rules)
    answer = decide(entry, book, rules, now=now)
    if isinstance(answer, Renewed):
        tx.leases.keep(answer.lease)
        lease_log.changed(tx, "lease.renewed", answer.lease, Rule.SAME_REQUEST)
        return answer.lease
    over = over_budget(tx, asked, rules)
    if over is not None:
        return _refuse(tx, wanted, over)
    if isinstance(answer, Granted):
        return lease_book.grant(tx, entry.id, wanted, Rule.FREE)
    if not asked.wait:
        lease_log.refused(tx, wanted, answer.rule, position=answer.position)
        return answer
    return _stand_in_line(tx, entry, book, answer, rules=rules)


def decide(entry: Waiter, book: Book, rules: Policy, *, now: Millis) -> Granted | Renewed | Held:
    """What the request gets now, by the rules of its class."""
    most = rules.classes[entry.wanted.rank].max_hold
    return lease_grant.decide(entry, book, now=now, max_hold=most)


def over_budget(tx: Transaction, asked: Asked, rules: Policy) -> Refused | None:
    """Refuse who holds as many leases as the class may."""
    held = tx.leases.held(asked.wanted.holder)
    return policy.over_budget(rules, asked.wanted, held=held)


def claim(tx: Transaction, entry: Waiter, rules: Policy) -> Reply:
    """What became of an entry: its lease, the entry while it waits on, or why it ended."""
    lease_book.expire(tx, rules, settling=True)
    now = tx.now()
    lease = tx.leases.get(entry.id)
    if lease is not None and lease_conflict.live(lease, now):
        claimed = lease_grant.claimed(lease)
        tx.leases.keep(claimed)
        return claimed
    book = lease_book.load(tx, rules)
    if any(one.id == entry.id for one in book.waiters):
        stuck = lease_queue.stuck(entry, book, now)
        if stuck is None:
            return entry
        tx.leases.dequeue(entry.id)
        lease_log.refused(tx, entry.wanted, Rule.DEADLOCK, cycle=list(stuck.cycle))
        return stuck
    answer = decide(entry, book, rules, now=now)
    if isinstance(answer, Held) and entry.until <= now:
        lease_log.refused(tx, entry.wanted, answer.rule, position=answer.position)
        return answer
    # It was granted and not claimed in time, or by another request of the same holder.
    return ask(tx, Asked(entry.wanted, max(0, entry.until - now)), rules)


def withdraw(tx: Transaction, entry: Waiter, rules: Policy) -> None:
    """Take an entry out whose request has gone; what was granted to it passes on."""
    tx.leases.dequeue(entry.id)
    lease, now = tx.leases.get(entry.id), tx.now()
    unclaimed = lease is not None and lease.ended is None and lease.claim_until is not None
    if lease is not None and unclaimed:
        ended = end(lease, Cause.RELEASED, now=now)
        lease_book.finish(tx, rules, [Ended(ended, Rule.NOT_CLAIMED)])
    else:
        lease_book.settle(tx, rules)


def _refuse(tx: Transaction, wanted: Wanted, refused: Refused) -> Refused:
    lease_log.refused(tx, wanted, refused.rule)
    return refused


def _stand_in_line(
    tx: Transaction, entry: Waiter, book: Book, answer: Held, *, rules: Policy
) -> Reply:
    now, wanted = tx.now(), entry.wanted
    circle = lease_queue.cycle(wanted, book, now)
    if circle is not None:
        lease_log.refused(tx, wanted, Rule.DEADLOCK, cycle=list(circle.cycle))
        return circle
    if lease_queue.depth(wanted, book) >= rules.queue:
        return _refuse(tx, wanted, lease_refusal.queue_full(rules.queue))
    tx.leases.enqueue(entry)
    lease_log.queued(tx, entry, answer.holders, answer.position)
    for found, _ in lease_conflict.blocked(book, wanted, now):
        if isinstance(found.source, Lease) and lease_conflict.live(found.source, now):
            _ask_back(tx, found.source, entry, rules)
    lease_book.expire(tx, rules, settling=True)
    granted = tx.leases.get(entry.id)
    if granted is None or granted.ended is not None:
        return entry
    claimed = lease_grant.claimed(granted)
    tx.leases.keep(claimed)
    return claimed


def _ask_back(tx: Transaction, held: Lease, entry: Waiter, rules: Policy) -> None:
    """Ask a lower class to give way, as the policy says."""
    safe = held.since + rules.classes[held.wanted.rank].min_hold
    earliest = Millis(max(tx.now(), safe))
    match policy.preemption(rules, entry.wanted, held):
        case Preemption.NEVER:
            return
        case Preemption.ASK:
            rule, at = Rule.PREEMPT_ASK, None
        case Preemption.GRACE:
            rule, at = Rule.PREEMPT_GRACE, Millis(earliest + rules.grace)
        case Preemption.NOW:
            rule, at = Rule.PREEMPT_NOW, earliest
    # Whoever was asked back once is given no later deadline, and no earlier one by the next asker.
    if held.preempt_at is None and held.claim_until is None:
        lease_book.preempt(tx, held, entry.wanted, rule, at=at)
