"""That a lease was put off is kept for good, under a key of the lease: it is done once."""

from __future__ import annotations

from mufakat.core.base import Conflict
from mufakat.core.coordination import lease_defer, lease_end
from mufakat.core.coordination.lease import Lease, Lost, Rule
from mufakat.core.coordination.policy import Policy
from mufakat.ports.store import Transaction
from mufakat.services import idempotency, ids
from mufakat.services.coordination import lease_book, lease_log, lease_refusal


def defer(
    tx: Transaction, lease: Lease, fence: int, *, key: str, rules: Policy
) -> Lease | Lost | Conflict:
    """Move the time when it passes to a higher class; the same `key` answers the lease again."""
    known = tx.keys.find(_once(lease))
    request = idempotency.digest("defer", key or ids.new("d", tx.now()))
    if known is not None and known[0] == request:
        return lease
    answer = lease_defer.decide(
        lease,
        fence,
        lease_book.load(tx, rules),
        way=rules.classes[lease.wanted.rank].preemption,
        grace=rules.grace,
        before=known is not None,
        now=tx.now(),
    )
    match answer:
        case Lost():
            return answer
        case lease_defer.Refused():
            return lease_refusal.not_deferred(lease, answer, now=tx.now())
    idempotency.keep(tx, _once(lease), request, lease.id)
    tx.leases.keep(answer.lease)
    lease_log.deferred(tx, answer.lease, answer.asker.wanted)
    return answer.lease


def hand_on(tx: Transaction, lease: Lease, fresh: Lease, rules: Policy) -> Lease:
    """Let the deadline go over to the new holder, or a lease could be handed round for ever."""
    asker = lease_end.preempted(fresh, lease_book.load(tx, rules), tx.now())
    if lease.preempt_at is None or asker is None:
        return fresh
    known = tx.keys.find(_once(lease))
    if known is not None:
        idempotency.keep(tx, _once(fresh), known[0], fresh.id)
    rule, at = Rule.PREEMPT_GRACE, lease.preempt_at
    return lease_book.preempt(tx, fresh, asker.wanted, rule, at=at, once=known is None)


def _once(lease: Lease) -> str:
    return f"defer/{lease.id}"
