"""What the log and the agents are told when a lease changes hands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mufakat.core import text
from mufakat.core.base import Event, Millis
from mufakat.core.coordination.lease import Cause, Holder, Lease, Rule, Waiter, Wanted
from mufakat.ports.store import Transaction
from mufakat.services.coordination import inbox

KINDS: Mapping[Cause, str] = {
    Cause.RELEASED: "lease.released",
    Cause.CRASHED: "lease.released",
    Cause.EXPIRED: "lease.expired",
    Cause.STOLEN: "lease.lost",
    Cause.REVOKED: "lease.lost",
    Cause.TRANSFERRED: "lease.transferred",
}
UNASKED = frozenset({Cause.EXPIRED, Cause.CRASHED, Cause.STOLEN, Cause.REVOKED})
"""Ends that the holder did not bring about, and is told of."""
URGENT = frozenset({Cause.STOLEN, Cause.REVOKED})


def changed(tx: Transaction, kind: str, lease: Lease, rule: Rule, **more: Any) -> None:
    """Announce something about a lease."""
    data = {**_of(lease.wanted), "rule": rule.value, "expires": lease.expires, **more}
    if lease.cause is not None:
        data["cause"] = lease.cause.value
    tx.events.record(Event(kind, lease.id, data))


def ended(tx: Transaction, lease: Lease, rule: Rule, **more: Any) -> None:
    """Announce the end of a lease, and tell the holder where it was not their doing."""
    cause = lease.cause or Cause.EXPIRED
    changed(tx, KINDS[cause], lease, rule, since=lease.since, **more)
    if cause in UNASKED and rule is not Rule.NOT_CLAIMED:
        dead = ", ".join(map(str, lease.fences))
        words = (
            f"Your lease {lease.id} on {_names(lease.wanted)} is over: {cause} ({rule})."
            f" Its fence {dead} is dead: write nothing more under it; ask anew if you need it."
        )
        inbox.tell(tx, lease.wanted.holder, words, urgent=cause in URGENT)


def queued(tx: Transaction, waiter: Waiter, holders: Iterable[Holder], position: int) -> None:
    """Announce that somebody waits."""
    data = {
        **_of(waiter.wanted),
        "rule": Rule.WAITS.value,
        "position": position,
        "holders": sorted({one.holder for one in holders}),
    }
    tx.events.record(Event("lease.queued", waiter.id, data))


def refused(tx: Transaction, wanted: Wanted, rule: Rule, **more: Any) -> None:
    """Announce that somebody did not get what they asked for."""
    data = {**_of(wanted), "rule": rule.value, **more}
    tx.events.record(Event("lease.refused", wanted.resources[0], data))


def asked_back(
    tx: Transaction,
    lease: Lease,
    asker: Wanted,
    rule: Rule,
    *,
    deadline: Millis | None,
    once: bool,
) -> None:
    """Ask a holder to give a lease back to somebody of a higher class.

    `once` is whether the holder may put the deadline off.
    """
    changed(tx, "lease.preempt_requested", lease, rule, by=asker.holder, deadline=deadline)
    seconds = None if deadline is None else max(0, deadline - tx.now()) // 1000
    limit = "" if seconds is None else f" In {seconds} s it passes to them with a new fence."
    if deadline is not None and rule is Rule.PREEMPT_GRACE and once:
        limit += " If that is too soon, defer it: once."
    why = f" They say: {text.one_line(asker.reason, 200)}" if asker.reason else ""
    words = (
        f"{asker.holder} needs {_names(lease.wanted)}, which you hold by lease {lease.id}."
        f" Bring your work to a safe point, then release or transfer it.{limit}{why}"
    )
    inbox.tell(tx, lease.wanted.holder, words, urgent=True)


def deferred(tx: Transaction, lease: Lease, asker: Wanted) -> None:
    """Tell who waits for a lease that its holder has put off the time when it passes to them."""
    deadline = lease.preempt_at
    changed(tx, "lease.deferred", lease, Rule.DEFERRED, by=asker.holder, deadline=deadline)
    seconds = max(0, (deadline or 0) - tx.now()) // 1000
    words = (
        f"{lease.wanted.holder} needs a little longer for {_names(lease.wanted)}, which you wait"
        f" for: it passes to you in {seconds} s at the latest. It cannot be put off again."
    )
    inbox.tell(tx, asker.holder, words)


def passed_on(tx: Transaction, lease: Lease, before: Wanted, rule: Rule) -> None:
    """Tell the new holder what they were handed, and the next step as the last holder said it."""
    if lease.claim_until is not None and rule is Rule.DEPUTY:
        seconds = max(0, lease.claim_until - tx.now()) // 1000
        how = f" You are its deputy: ask for the same or renew it within {seconds} s."
    else:
        how = ""
    step = before.next_step
    if not step and rule is Rule.FROM_QUEUE:
        return
    said = f" The next step, in the words of {before.holder}:\n{step}" if step else ""
    words = (
        f"{_names(lease.wanted)} passed from {before.holder} to you by lease {lease.id}.{how}{said}"
    )
    inbox.tell(tx, lease.wanted.holder, words)


def _of(wanted: Wanted) -> dict[str, Any]:
    return {
        "holder": wanted.holder,
        "resources": list(wanted.resources),
        "mode": wanted.mode.value,
        "rank": wanted.rank,
    }


def _names(wanted: Wanted) -> str:
    more = len(wanted.resources) - 4
    return ", ".join(wanted.resources[:4]) + (f" and {more} more" if more > 0 else "")
