"""Refusals about leases as errors: with who stands in the way, and what to do instead."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mufakat.core import base
from mufakat.core.base import Millis
from mufakat.core.coordination import lease_defer
from mufakat.core.coordination.lease import Deadlock, Held, Holder, Lease, Lost, Rule
from mufakat.core.coordination.policy import Refused


def held(answer: Held) -> base.Held:
    """Somebody has it, or comes first."""
    first = answer.holders[0]
    words = {
        Rule.QUEUED_BEFORE: "is waited for by",
        Rule.LOCK_DELAY: "rests after its lease expired; it was held by",
    }
    reason = f" ({first.reason})" if first.reason else ""
    return base.Held(
        f"{first.resource} {words.get(answer.rule, 'is held by')} {first.holder}{reason}.",
        fix="Wait in the queue with `wait`, or work on something else meanwhile.",
        holders=[holder(one) for one in answer.holders],
        position=answer.position,
        rule=answer.rule.value,
    )


def deadlock(answer: Deadlock) -> base.Deadlock:
    """Waiting would never end."""
    circle = " → ".join([*answer.cycle, answer.cycle[0]])
    return base.Deadlock(
        f"Waiting would close a circle: {circle}.",
        fix="Release what you hold, then ask for everything at once.",
        cycle=list(answer.cycle),
    )


def refused(answer: Refused) -> base.MufakatError:
    """The policy is against it."""
    if answer.rule is Rule.TOO_BROAD:
        return base.TooBroad(answer.why, fix=answer.fix, rule=answer.rule.value)
    return base.TooMany(answer.why, fix=answer.fix, rule=answer.rule.value)


def lost(answer: Lost) -> base.LeaseLost:
    """It is no longer theirs."""
    now = f" {answer.holder} has it now." if answer.holder else ""
    return base.LeaseLost(
        f"The lease is lost: {answer.reason}.{now}",
        reason=answer.reason.value,
        holder=answer.holder,
    )


def queue_full(limit: int) -> Refused:
    """No more may wait for it."""
    return Refused(
        Rule.QUEUE_FULL,
        f"{limit} wait for it already.",
        "Ask again later, or take another part of the work.",
    )


def not_deferred(lease: Lease, answer: lease_defer.Refused, *, now: Millis) -> base.Conflict:
    """The time when it passes on stays as it is."""
    left = max(0, (answer.deadline or now) - now) // 1000
    passes = f"it passes on in {left} s"
    words, fix = {
        Rule.NOT_ASKED: (
            f"Nobody takes lease {lease.id} from you at a set time: there is nothing to defer.",
            "Go on working; you are told when somebody of a higher class asks for it.",
        ),
        Rule.PREEMPT_NOW: (
            f"The policy lets a higher class take lease {lease.id} without grace: {passes}.",
            "Bring your work to a safe point, then release or transfer it.",
        ),
    }.get(
        answer.rule,
        (
            f"Lease {lease.id} was deferred before, and that is done once: {passes}.",
            "Bring your work to a safe point, then release or transfer it before that.",
        ),
    )
    return base.Conflict(words, fix=fix, rule=answer.rule.value, seconds=left)


def holder(one: Holder) -> dict[str, Any]:
    """Who stands in the way, as data."""
    since = datetime.fromtimestamp(one.since / 1000, UTC).isoformat(timespec="milliseconds")
    return {
        "holder": one.holder,
        "resource": one.resource,
        "since": since.replace("+00:00", "Z"),
        "remaining": max(0, one.remaining) / 1000,
        "reason": one.reason,
        "lease": one.lease,
    }


def as_error(
    answer: Held | Deadlock | Refused | Lost | base.MufakatError,
) -> base.MufakatError:
    """Any refusal as the error that a door translates."""
    match answer:
        case Held():
            return held(answer)
        case Deadlock():
            return deadlock(answer)
        case Refused():
            return refused(answer)
        case Lost():
            return lost(answer)
        case base.MufakatError():
            return answer
