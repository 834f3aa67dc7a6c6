"""Faults of lease services, each put into ours by a patch: none may go unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from mufakat.core.coordination import (
    lease_conflict,
    lease_end,
    lease_grant,
    lease_queue,
    pattern,
    resource,
)
from mufakat.core.coordination.lease import Cause, Granted, Held, Mode, Renewed, Rule
from mufakat.services.coordination import lease_book, lease_holding, lease_steps, leases
from mufakat.storage import clock

Patch = pytest.MonkeyPatch
Fault = Callable[[Patch], None]


def fence_from_live_rows(patch: Patch) -> None:
    """max(fence) over what is held: an ended lease's fence is given out again."""

    def next_fence(tx: Any, key: str) -> int:
        held = [one for one in tx.leases.live() if one.ended is None]
        known = [one.fence(key) for one in held if key in one.wanted.resources]
        return max(known, default=1 << 40) + 1

    _granting(patch, lambda tx, wanted, rule: [next_fence(tx, key) for key in wanted.resources])


def transfer_keeps_the_fence(patch: Patch) -> None:
    def fences(tx: Any, wanted: Any, rule: Rule) -> list[int]:
        counted = tx.leases.fence if rule is Rule.HOLDER else tx.leases.next_fence
        return [counted(key) for key in wanted.resources]

    _granting(patch, fences)


def one_fence_for_all_resources(patch: Patch) -> None:
    def fences(tx: Any, wanted: Any, rule: Rule) -> list[int]:
        return [max(tx.leases.next_fence(key) for key in wanted.resources)] * len(wanted.resources)

    _granting(patch, fences)


def _granting(patch: Patch, fences: Callable[[Any, Any, Rule], list[int]]) -> None:
    def grant(tx: Any, id: str, wanted: Any, rule: Rule, *, claim: int = 0) -> Any:
        made = lease_grant.grant(id, wanted, fences(tx, wanted, rule), now=tx.now(), claim=claim)
        tx.leases.keep(made)
        return made

    patch.setattr(lease_book, "grant", grant)


def check_then_act(patch: Patch) -> None:
    """The decision is made from what was read one request ago."""
    real = lease_book.near
    before: list[Any] = []

    def near(*given: Any) -> Any:
        before.append(real(*given))
        return before[-2] if len(before) > 1 else before[-1]

    patch.setattr(lease_book, "near", near)


def granted_with_conflicts(patch: Patch) -> None:
    real = lease_grant.decide

    def decide(*given: Any, **more: Any) -> Any:
        answer = real(*given, **more)
        return Granted() if isinstance(answer, Held) and answer.rule is Rule.HELD else answer

    patch.setattr(lease_grant, "decide", decide)


def only_the_first_resource_is_looked_at(patch: Patch) -> None:
    real = lease_conflict.blocked

    def blocked(book: Any, wanted: Any, now: Any) -> Any:
        return real(book, replace(wanted, resources=wanted.resources[:1]), now)

    patch.setattr(lease_conflict, "blocked", blocked)


def sharing_with_a_writer(patch: Patch) -> None:
    real = lease_conflict.clash

    def clash(wanted: Any, claim: Any) -> str:
        return "" if Mode.SHARED in {wanted.mode, claim.wanted.mode} else real(wanted, claim)

    patch.setattr(lease_conflict, "clash", clash)


def readers_pass_a_waiting_writer(patch: Patch) -> None:
    real = lease_queue.ahead

    def ahead(waiter: Any, *more: Any) -> Any:
        return [] if waiter.wanted.mode is Mode.SHARED else real(waiter, *more)

    patch.setattr(lease_queue, "ahead", ahead)


def anybody_passes_the_queue(patch: Patch) -> None:
    patch.setattr(lease_queue, "ahead", lambda *given: [])


def last_come_first_served(patch: Patch) -> None:
    real = lease_queue.ordered
    patch.setattr(lease_queue, "ordered", lambda book: real(book)[::-1])


def classes_are_ignored(patch: Patch) -> None:
    patch.setattr(lease_queue, "standing", lambda waiter, aging: waiter.enqueued)


def who_waits_for_the_asker_is_waited_for(patch: Patch) -> None:
    """Nobody passes by the first in line: two that hold a part each stand still for ever."""

    def ahead(waiter: Any, book: Any, now: Any) -> Any:
        others = lease_conflict.queued(waiter.wanted.holder, lease_queue.before(waiter, book))
        return [claim for claim, _ in lease_conflict.met(waiter.wanted, list(others))]

    patch.setattr(lease_queue, "ahead", ahead)


def circles_are_not_seen(patch: Patch) -> None:
    patch.setattr(lease_queue, "cycle", lambda *given: None)


def renewal_resurrects(patch: Patch) -> None:
    real = lease_end.renew

    def renew(lease: Any, fence: int, *, ttl: int, now: Any, **more: Any) -> Any:
        if lease.cause is Cause.EXPIRED:
            alive = replace(lease, ended=None, cause=None, locked_until=None)
            return replace(alive, expires=now + ttl)
        return real(lease, fence, ttl=ttl, now=now, **more)

    patch.setattr(lease_end, "renew", renew)


def renewal_shortens(patch: Patch) -> None:
    def prolonged(lease: Any, ttl: int, book: Any, *, now: int, max_hold: int = 0) -> Any:
        return replace(lease, expires=now + ttl)

    patch.setattr(lease_grant, "prolonged", prolonged)


def renewal_by_any_fence(patch: Patch) -> None:
    real = lease_end.renew

    def renew(lease: Any, fence: int, **more: Any) -> Any:
        return real(lease, lease.fences[0], **more)

    patch.setattr(lease_end, "renew", renew)


def release_by_any_fence(patch: Patch) -> None:
    real = lease_end.release

    def release(lease: Any, fence: int, **more: Any) -> Any:
        return real(lease, lease.fences[0], **more)

    patch.setattr(lease_end, "release", release)


def a_stale_release_frees_the_new_holder(patch: Patch) -> None:
    real = lease_holding.release

    def release(tx: Any, by: Any, id: str, fence: int, *, rules: Any) -> Any:
        done = real(tx, by, id, fence, rules=rules)
        stale = tx.leases.get(id)
        for one in tx.leases.live() if done is False and stale.ended is not None else ():
            if one.ended is None and one.wanted.resources == stale.wanted.resources:
                over = lease_end.end(one, Cause.RELEASED, now=tx.now())
                lease_book.finish(tx, rules, [lease_end.Ended(over, Rule.HOLDER)])
        return done

    patch.setattr(lease_holding, "release", release)


def expiry_by_the_wall_clock(patch: Patch) -> None:
    patch.setattr(clock.HighWater, "now", lambda self: self._readings.wall())


def expiry_one_too_late(patch: Patch) -> None:
    real = lease_end.overdue
    patch.setattr(lease_end, "overdue", lambda book, now: real(book, now - 1))


def no_rest_after_expiry(patch: Patch) -> None:
    patch.setattr(lease_end, "LOCK_DELAY", 0)


def a_rest_after_release_too(patch: Patch) -> None:
    real = lease_end.end

    def end(lease: Any, cause: Cause, *, now: Any) -> Any:
        return replace(real(lease, Cause.EXPIRED, now=now), cause=cause)

    patch.setattr(lease_end, "end", end)
    patch.setattr(lease_steps, "end", end)


def a_grant_is_never_claimed(patch: Patch) -> None:
    patch.setattr(lease_book, "CLAIM", 3_600_000)


def the_same_request_is_a_new_lease(patch: Patch) -> None:
    real = lease_grant.decide

    def decide(*given: Any, **more: Any) -> Any:
        answer = real(*given, **more)
        return Granted() if isinstance(answer, Renewed) else answer

    patch.setattr(lease_grant, "decide", decide)


def a_prefix_decides_about_patterns(patch: Patch) -> None:
    def overlap(one: str, other: str) -> bool:
        a, b = (pattern.WILD.split(key, maxsplit=1)[0] for key in (one, other))
        return one == other or ("file:" in one and (a.startswith(b) or b.startswith(a)))

    patch.setattr(resource, "overlap", overlap)


def one_place_too_many(patch: Patch) -> None:
    real = lease_conflict.met

    def met(wanted: Any, others: Any) -> Any:
        roomy = replace(wanted, slots=wanted.slots + 1) if wanted.slots > 1 else wanted
        more = [
            replace(one, wanted=replace(one.wanted, slots=one.wanted.slots + 1))
            if one.wanted.slots > 1
            else one
            for one in others
        ]
        return real(roomy, more)

    patch.setattr(lease_conflict, "met", met)


def no_time_after_a_start(patch: Patch) -> None:
    patch.setattr(lease_end, "after_start", lambda lease, now: lease)


def the_queue_outlives_the_server(patch: Patch) -> None:
    def grace(tx: Any) -> None:
        for lease in tx.leases.live():
            if lease.ended is None:
                tx.leases.keep(lease_end.after_start(lease, tx.now()))

    patch.setattr(leases, "grace", grace)


def a_check_believes_its_rows(patch: Patch) -> None:
    """It does not look at the clock first."""

    def check(tx: Any, key: str, fence: int, *, rules: Any) -> tuple[bool, str]:
        held = [one for one in tx.leases.touching([key]) if one.ended is None]
        valid = any(key in one.wanted.resources and one.fence(key) == fence for one in held)
        return valid, ""

    patch.setattr(lease_holding, "check", check)


def a_call_renews_what_is_over(patch: Patch) -> None:
    def past_half(lease: Any, now: int) -> bool:
        return bool(lease.expires - now < lease.wanted.ttl / 2)

    patch.setattr(lease_holding, "_past_half", past_half)


def who_leaves_stays_in_the_queue(patch: Patch) -> None:
    patch.setattr(lease_steps, "withdraw", lambda tx, entry, rules: None)


def the_dead_keep_their_leases(patch: Patch) -> None:
    patch.setattr(leases, "end_of", lambda *given: None)


def a_transfer_forgets_what_else_is_held(patch: Patch) -> None:
    """The giver keeps a part by another lease."""
    real = lease_holding.transfer

    def transfer(tx: Any, *given: Any, **more: Any) -> Any:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(lease_conflict, "blocked", lambda *_: [])
            return real(tx, *given, **more)

    patch.setattr(lease_holding, "transfer", transfer)


ALL: Mapping[str, Fault] = {
    fault.__name__: fault
    for fault in (
        fence_from_live_rows,
        transfer_keeps_the_fence,
        one_fence_for_all_resources,
        check_then_act,
        granted_with_conflicts,
        only_the_first_resource_is_looked_at,
        sharing_with_a_writer,
        readers_pass_a_waiting_writer,
        anybody_passes_the_queue,
        last_come_first_served,
        classes_are_ignored,
        who_waits_for_the_asker_is_waited_for,
        circles_are_not_seen,
        renewal_resurrects,
        renewal_shortens,
        renewal_by_any_fence,
        release_by_any_fence,
        a_stale_release_frees_the_new_holder,
        expiry_by_the_wall_clock,
        expiry_one_too_late,
        no_rest_after_expiry,
        a_rest_after_release_too,
        a_grant_is_never_claimed,
        the_same_request_is_a_new_lease,
        a_prefix_decides_about_patterns,
        one_place_too_many,
        no_time_after_a_start,
        the_queue_outlives_the_server,
        a_check_believes_its_rows,
        a_call_renews_what_is_over,
        who_leaves_stays_in_the_queue,
        the_dead_keep_their_leases,
        a_transfer_forgets_what_else_is_held,
    )
}
