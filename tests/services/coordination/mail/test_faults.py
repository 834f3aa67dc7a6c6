"""Faults put into inbox, gate and digest: each is found by the test that is meant to find it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from mufakat.core import quote
from mufakat.core.base import MufakatError, NotFound
from mufakat.core.coordination import delivery, digest, flood, gate
from mufakat.core.coordination.inbox import Status
from mufakat.services import idempotency
from mufakat.services.coordination import inbox, mailbox, marks, recipients, states
from services.coordination.mail import (
    test_context,
    test_gate,
    test_hostile,
    test_reading,
    test_sending,
)
from services.coordination.mail.conftest import Office

pytestmark = pytest.mark.anyio
Put = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Fault:
    """What is broken, and the test that must fail then."""

    name: str
    put: Put
    check: Callable[..., Awaitable[None]]
    more: Mapping[str, Any] = field(default_factory=dict)


def swap(owner: Any, name: str, made: Callable[[Any], Any]) -> Put:
    """Put `made(original)` in place of an attribute."""
    return lambda patch: patch.setattr(owner, name, made(getattr(owner, name)))


def skip_unknown(original: Any) -> Any:
    def resolve(tx: Any, names: Any, **more: Any) -> Any:
        known = []
        for name in names:
            try:
                original(tx, [name], **more)
            except NotFound:
                continue
            known.append(name)
        return original(tx, known, **more)

    return resolve


def whole_inbox(original: Any) -> Any:
    return lambda rows, acked: max((row.number for row in rows), default=acked)


def told_all(original: Any) -> Any:
    return lambda news, **more: dataclasses.replace(
        original(news, **more), shown=tuple(one.delivery.number for one in news.unread)
    )


def each_a_turn(original: Any) -> Any:
    return lambda row, **more: dataclasses.replace(original(row, **more), turns=row.turns + 1)


FAULTS = (
    Fault(
        "an ack reaches what was never given",
        swap(delivery, "delivered", lambda _: lambda *_: True),
        test_reading.test_row_28_an_ack_beyond_what_was_delivered,
        {"upto": 3},
    ),
    Fault(
        "a claim counts as shown",
        swap(delivery, "offer", lambda _: lambda row, **m: delivery.show(row, turn="", **m)),
        test_reading.test_case_022_an_offer_that_nobody_confirmed_is_not_read,
    ),
    Fault(
        "an offer never ends",
        swap(delivery, "claimable", lambda _: lambda row, _: row.status is Status.QUEUED),
        test_reading.test_a_claim_is_one_consumers_for_a_minute_then_it_is_offered_again,
    ),
    Fault(
        "an offer holds nobody off",
        swap(delivery, "claimable", lambda _: lambda *_: True),
        test_reading.test_a_claim_is_one_consumers_for_a_minute_then_it_is_offered_again,
    ),
    Fault(
        "a session of the past still acts",
        swap(mailbox, "reader", lambda _: lambda tx, by: tx.instances.get(by.identity)),
        test_gate.test_a_superseded_session_is_not_held,
    ),
    Fault(
        "only the unread expire",
        swap(inbox, "OPEN", lambda _: frozenset({Status.QUEUED})),
        test_reading.test_case_037_expiry_does_not_depend_on_how_far_a_message_got,
        {"shown": True},
    ),
    Fault(
        "a sender is told again and again",
        swap(inbox, "watched", lambda _: lambda tx, one, text: inbox.tell(tx, one.sender, text)),
        test_reading.test_a_request_left_unanswered_at_idle_is_told_once,
    ),
    Fault(
        "the cursor runs ahead of what is open",
        swap(delivery, "cursor", whole_inbox),
        test_reading.test_the_cursor_waits_for_what_is_still_open,
    ),
    Fault(
        "a repeated key sends again",
        swap(idempotency, "earlier", lambda _: lambda *_: ""),
        test_sending.test_m1_a_retry_long_after_is_still_the_same_message,
    ),
    Fault(
        "unknown names are passed over",
        swap(recipients, "resolve", skip_unknown),
        test_sending.test_row_29_an_unknown_name_stores_nothing_and_offers_the_nearest,
    ),
    Fault(
        "an answer settles nothing",
        swap(inbox, "_answer", lambda _: lambda *_: None),
        test_sending.test_replies_mark_what_they_answer_for_the_one_who_answers,
    ),
    Fault(
        "hops are not counted",
        swap(flood, "hops", lambda _: lambda *_: 0),
        test_gate.test_g8_ping_pong_of_two_agents_always_ends,
    ),
    Fault(
        "blocks are not counted",
        swap(gate, "after", lambda _: lambda turn, hold, **m: turn),
        test_gate.test_q11_every_path_ends_after_three_blocks_at_most,
        {"count": 1, "kind": "requires_ack", "arriving": 0},
    ),
    Fault(
        "a fourth block",
        swap(gate, "BLOCKS", lambda _: 4),
        test_gate.test_a_request_left_at_the_cap_is_told_once_and_not_again_at_idle,
    ),
    Fault(
        "a request counts as read once it was shown",
        swap(gate, "_read_by_now", lambda _: lambda one, turn: one.delivery.status is Status.SHOWN),
        test_gate.test_m7_a_request_shown_five_times_is_a_dead_letter_and_holds_no_more,
    ),
    Fault(
        "a block that was lost counts as read",
        swap(
            gate,
            "_read_by_now",
            lambda _: (
                lambda one, turn: (
                    one.delivery.status is Status.SHOWN and not one.envelope.requires_ack
                )
            ),
        ),
        test_gate.test_case_027_a_block_that_never_arrived_has_read_nothing,
    ),
    Fault(
        "nothing is ever given up",
        swap(delivery, "given_up", lambda _: lambda *_: False),
        test_gate.test_m7_a_request_shown_five_times_is_a_dead_letter_and_holds_no_more,
    ),
    Fault(
        "given up by deliveries alone",
        swap(delivery, "TURNS", lambda _: 0),
        test_gate.test_m7_however_often_one_turn_shows_it_a_second_turn_is_needed,
    ),
    Fault(
        "every delivery counts as a turn",
        swap(delivery, "show", each_a_turn),
        test_gate.test_m7_however_often_one_turn_shows_it_a_second_turn_is_needed,
    ),
    Fault(
        "the gate does not mark what it shows",
        swap(marks, "show", lambda _: lambda *_, **__: None),
        test_gate.test_one_block_carries_all_and_what_was_shown_counts_as_read,
    ),
    Fault(
        "idle without the debt",
        swap(
            states,
            "move",
            lambda original: (
                lambda tx, name, report: original(tx, name, dataclasses.replace(report, debt=0))
            ),
        ),
        test_gate.test_q11_every_path_ends_after_three_blocks_at_most,
        {"count": 1, "kind": "requires_ack", "arriving": 0},
    ),
    Fault(
        "a beginning counts as the whole",
        swap(digest, "render", told_all),
        test_context.test_a_long_letter_is_begun_once_and_read_on_from_the_inbox,
    ),
    Fault(
        "quoted words are not made inert",
        swap(quote, "inert", lambda _: lambda body, _: body),
        test_hostile.test_row_31_nothing_forges_a_line_of_ours_in_digest_gate_and_pack,
    ),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
async def test_q16_every_fault_is_found(
    office: Office, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault.put(monkeypatch)
    with pytest.raises((AssertionError, MufakatError, pytest.fail.Exception)):
        await fault.check(office, **fault.more)


def test_the_checks_are_tests_that_run_without_a_fault() -> None:
    assert len(FAULTS) >= 20
    for fault in FAULTS:
        assert fault.check.__name__.startswith("test_")
        assert set(fault.more) <= set(inspect.signature(fault.check).parameters)
