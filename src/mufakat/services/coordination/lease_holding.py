"""What is done with a lease that stands: renew, release, transfer, steal and check, in one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mufakat.core.base import Event, InvalidInput, Millis, MufakatError, NotAllowed
from mufakat.core.coordination import lease_conflict, lease_end, lease_grant
from mufakat.core.coordination.lease import Book, Cause, Held, Lease, Lost, Rule, Wanted
from mufakat.core.coordination.lease_end import Ended
from mufakat.core.coordination.policy import Policy
from mufakat.core.coordination.principal import Principal
from mufakat.ports.store import Transaction
from mufakat.services import ids, resolving
from mufakat.services.coordination import (
    agents,
    lease_asking,
    lease_book,
    lease_deferring,
    lease_log,
)

FIX = "List them: mufakat lease list"


def get(tx: Transaction, id: str) -> Lease:
    """A lease by its id or a unique prefix; raises NotFound or InvalidInput."""
    exact = tx.leases.get(id)
    if exact is not None:
        return exact
    found = tx.leases.find(id) if id else ()
    return resolving.only(id, found, noun="lease", fix=FIX)


def not_theirs(tx: Transaction, by: Principal, lease: Lease, *, act: str) -> NotAllowed | None:
    """The refusal, which the log remembers, where a caller does not act for the holder."""
    if by.acts_for(lease.wanted.holder):
        return None
    data = {"as": lease.wanted.holder, "act": act, "lease": lease.id}
    tx.events.record(Event("access.refused", by.identity, data))
    return NotAllowed(f"Lease {lease.id} is not yours.", fix="Ask its holder to do it.")


def renew(
    tx: Transaction, by: Principal, id: str, fence: int, *, ttl: int, rules: Policy
) -> Lease | Lost | Held | MufakatError:
    """More time for a lease; a grant that waits to be claimed is claimed by it."""
    lease_book.expire(tx, rules)
    lease = get(tx, id)
    refused = not_theirs(tx, by, lease, act="renew")
    if refused is not None:
        return refused
    now, book = tx.now(), lease_book.load(tx, rules)
    if lease.claim_until is not None and lease_conflict.live(lease, now):
        rest = lease_conflict.blocked(book, lease.wanted, now)
        if rest:
            holders = tuple(lease_conflict.holder(one, where, now) for one, where in rest)
            return Held(holders, 1, Rule.LOCK_DELAY)
    most = rules.classes[lease.wanted.rank].max_hold
    answer = lease_end.renew(lease, fence, ttl=ttl, book=book, now=now, max_hold=most)
    if isinstance(answer, Lost):
        lease_log.refused(tx, lease.wanted, Rule.STALE, reason=answer.reason.value)
        return answer
    if answer != lease:
        tx.leases.keep(answer)
        lease_log.changed(tx, "lease.renewed", answer, Rule.RENEWED)
    return answer


def release(
    tx: Transaction, by: Principal, id: str, fence: int, *, rules: Policy
) -> bool | MufakatError:
    """Give a lease back; False where it was gone, which changes nothing."""
    lease_book.expire(tx, rules)
    lease = get(tx, id)
    refused = not_theirs(tx, by, lease, act="release")
    if refused is not None:
        return refused
    own = by.identity == lease.wanted.holder
    cause = Cause.RELEASED if own else Cause.REVOKED
    ended = lease_end.release(lease, fence, now=tx.now(), cause=cause)
    if ended is None:
        return False
    lease_book.finish(tx, rules, [Ended(ended, Rule.HOLDER if own else Rule.OPERATOR)])
    return True


def transfer(
    tx: Transaction, by: Principal, id: str, fence: int, *, to: str, rules: Policy
) -> Lease | Lost | Held | MufakatError:
    """Hand a lease over under new fences; nobody in the queue comes between.

    Refused while the giver holds a part of it by another lease as well.
    """
    lease_book.expire(tx, rules)
    lease = get(tx, id)
    refused = not_theirs(tx, by, lease, act="transfer")
    if refused is not None:
        return refused
    now = tx.now()
    book = lease_book.load(tx, rules)
    lost = lease_end.current(lease, fence, book, now=now)
    if lost is not None:
        return lost
    giver = tx.instances.get(lease.wanted.holder)
    heir = agents.resolve(tx, to, project=giver.project if giver else None)
    if heir.identity == lease.wanted.holder:
        return InvalidInput(f"{to} holds it already.", fix="Name another agent.")
    if not agents.online(heir):
        return InvalidInput(f"{to} is offline.", fix="Name an agent that is there.")
    deputy = "" if lease.wanted.deputy == heir.identity else lease.wanted.deputy
    rank = lease_asking.rank_of(tx, heir.identity, rules)
    wanted = replace(lease.wanted, holder=heir.identity, deputy=deputy, rank=rank)
    others = [one for one in book.leases if one.id != lease.id and lease_conflict.live(one, now)]
    hits = lease_conflict.blocked(Book(others), wanted, now)
    if hits:
        return Held(tuple(lease_conflict.holder(one, where, now) for one, where in hits), 1)
    return _hand_over(tx, lease, wanted, rules)


def defer(
    tx: Transaction, by: Principal, id: str, fence: int, *, key: str, rules: Policy
) -> Lease | Lost | MufakatError:
    """Put off once that a lease passes to a higher class; the same `key` answers it again."""
    lease_book.expire(tx, rules)
    lease = get(tx, id)
    refused = not_theirs(tx, by, lease, act="defer")
    if refused is not None:
        return refused
    return lease_deferring.defer(tx, lease, fence, key=key, rules=rules)


def _hand_over(tx: Transaction, lease: Lease, wanted: Wanted, rules: Policy) -> Lease:
    now = tx.now()
    ended = lease_end.end(lease, Cause.TRANSFERRED, now=now)
    tx.leases.keep(ended)
    lease_log.ended(tx, ended, Rule.HOLDER, to=wanted.holder)
    fresh = lease_book.grant(tx, ids.new("l", now), wanted, Rule.HOLDER)
    lease_log.passed_on(tx, fresh, ended.wanted, Rule.HOLDER)
    fresh = lease_deferring.hand_on(tx, lease, fresh, rules)
    lease_book.settle(tx, rules)
    return fresh


def steal(tx: Transaction, wanted: Wanted, *, rules: Policy, reason: str) -> Lease:
    """Take resources at once from whoever holds them; for the operator alone, on the record."""
    lease_book.expire(tx, rules)
    now = tx.now()
    book = Book(tx.leases.live())
    taken = {
        found.source.id: found.source
        for found, _ in lease_conflict.blocked(book, wanted, now)
        if isinstance(found.source, Lease) and lease_conflict.live(found.source, now)
    }
    for lease in taken.values():
        ended = lease_end.end(lease, Cause.STOLEN, now=now)
        tx.leases.keep(ended)
        lease_log.ended(tx, ended, Rule.OPERATOR, by=wanted.holder, reason=reason)
    lease = lease_book.grant(tx, ids.new("l", now), wanted, Rule.OPERATOR)
    lease_book.settle(tx, rules)
    return lease


def check(tx: Transaction, resource: str, fence: int, *, rules: Policy) -> tuple[bool, str]:
    """Whether a fence is that of a lease that is held now, and who holds the resource."""
    lease_book.expire(tx, rules)
    now = tx.now()
    held = [
        one
        for one in tx.leases.touching([resource])
        if resource in one.wanted.resources
        and lease_conflict.live(one, now)
        and one.claim_until is None
    ]
    for one in held:
        if one.fence(resource) == fence:
            return True, one.wanted.holder
    return False, held[0].wanted.holder if held else ""


def touch(tx: Transaction, identity: str, rules: Policy) -> None:
    """Renew what is past half its time, because its holder has just called."""
    now = tx.now()
    own = [one for one in tx.leases.of(identity) if _past_half(one, now)]
    if not own:
        return
    book = Book(waiters=tx.leases.waiters(), aging=rules.aging)
    for lease in own:
        most = rules.classes[lease.wanted.rank].max_hold
        longer = lease_grant.prolonged(lease, lease.wanted.ttl, book, now=now, max_hold=most)
        if longer.expires > lease.expires:
            tx.leases.keep(longer)
            lease_log.changed(tx, "lease.renewed", longer, Rule.ACTIVE)


def end_of(tx: Transaction, identity: str, cause: Cause, rules: Policy) -> None:
    """End everything that somebody holds or waits for: they left, or are dead for certain."""
    now = tx.now()
    for waiter in tx.leases.waiters():
        if waiter.wanted.holder == identity:
            tx.leases.dequeue(waiter.id)
    held = [one for one in tx.leases.of(identity) if lease_conflict.live(one, now)]
    ends = [Ended(lease_end.end(one, cause, now=now), Rule.GONE) for one in held]
    lease_book.finish(tx, rules, ends)


def guard(tx: Transaction, identity: str, keys: Sequence[str], now: Millis) -> Sequence[Lease]:
    """Leases of others that forbid a change of these files, oldest first."""
    wanted = Wanted(identity, tuple(keys))
    hits = lease_conflict.blocked(Book(tx.leases.touching(keys)), wanted, now)
    return [
        found.source
        for found, _ in hits
        if isinstance(found.source, Lease) and found.wanted.slots == 1
    ]


def _past_half(lease: Lease, now: Millis) -> bool:
    left = lease.expires - now
    unclaimed = lease.claim_until is not None
    return lease_conflict.live(lease, now) and not unclaimed and left < lease.wanted.ttl / 2
