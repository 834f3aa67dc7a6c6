"""Putting off that a lease passes to a higher class: once, by one grace period, never again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_end
from mufakat.core.coordination.lease import Book, Lease, Lost, Rule, Waiter
from mufakat.core.coordination.policy import Preemption


@dataclass(frozen=True, slots=True)
class Deferred:
    """The lease with its later deadline, and who waits for it so much longer."""

    lease: Lease
    asker: Waiter


@dataclass(frozen=True, slots=True)
class Refused:
    """The deadline stays as it is."""

    rule: Rule
    """NOT_ASKED, DEFERRED or PREEMPT_NOW."""
    deadline: Millis | None = None


Answer = Deferred | Refused | Lost


def decide(
    lease: Lease,
    fence: int,
    book: Book,
    *,
    way: Preemption,
    grace: int,
    before: bool,
    now: Millis,
) -> Answer:
    """Answer a holder that wants to put it off; `grace` in milliseconds.

    `way` is how the policy lets a higher class take it, `before` whether it was put off already.
    """
    lost = lease_end.current(lease, fence, book, now=now)
    if lost is not None:
        return lost
    deadline = lease.preempt_at
    asker = lease_end.preempted(lease, book, now)
    if deadline is None or asker is None:
        return Refused(Rule.NOT_ASKED)
    if before:
        return Refused(Rule.DEFERRED, deadline)
    if way is Preemption.NOW:
        return Refused(Rule.PREEMPT_NOW, deadline)
    return Deferred(replace(lease, preempt_at=Millis(deadline + grace)), asker)
