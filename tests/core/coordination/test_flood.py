"""Floods and circles: buckets empty and refill, and a chain of replies ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.coordination import mail
from mufakat.core.base import Millis
from mufakat.core.coordination import flood
from mufakat.core.coordination.flood import Before, Bucket, Rate
from mufakat.core.talk.message import Kind

RATE = Rate(3, 1.0)
PERSON = Before(Kind.PERSON, "human@web:000000")


def said(speaker: str, hops: int, *, to_sender: bool = True) -> Before:
    return Before(Kind.AGENT, speaker, hops, to_sender)


def test_a_bucket_gives_its_burst_and_then_says_how_long_to_wait() -> None:
    bucket: Bucket | None = None
    for _ in range(3):
        taken = flood.take(bucket, RATE, Millis(0))
        assert isinstance(taken, Bucket)
        bucket = taken
    assert flood.take(bucket, RATE, Millis(0)) == 1.0
    assert isinstance(flood.take(bucket, RATE, Millis(1_000)), Bucket)


@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=60))
def test_no_more_passes_than_burst_and_rate_allow(gaps: list[int]) -> None:
    now, bucket, passed = 0, None, 0
    for gap in gaps:
        now += gap
        taken = flood.take(bucket, RATE, Millis(now))
        if isinstance(taken, Bucket):
            bucket, passed = taken, passed + 1
    assert passed <= RATE.burst + sum(gaps) / 1000 * RATE.per_second


def test_replies_are_counted_since_a_person_spoke() -> None:
    assert flood.hops(mail.ME, [PERSON], None) == 1
    assert flood.hops(mail.ME, [said(mail.PEER, 3), PERSON], None) == 4
    assert flood.hops(mail.ME, [PERSON, said(mail.PEER, 7)], None) == 1


def test_several_messages_in_a_row_are_no_replies_to_oneself() -> None:
    assert flood.hops(mail.ME, [said(mail.ME, 0), said(mail.ME, 0)], None) == 0
    assert flood.hops(mail.ME, [said(mail.PEER, 5, to_sender=False)], None) == 0


def test_a_reply_by_name_counts_in_another_thread_too() -> None:
    assert flood.hops(mail.ME, [], mail.letter(1, hops=6).envelope) == 7


def test_mufakats_own_notices_neither_count_nor_begin_anew() -> None:
    ours = said("mufakat@localhost:000000", 0)
    assert flood.hops(mail.ME, [ours, said(mail.PEER, 5)], None) == 6


def test_ping_pong_of_two_agents_ends_to_hold_after_eight_replies() -> None:
    thread: list[Before] = []
    holding = 0
    for n in range(50):
        sender, other = (mail.ME, mail.PEER) if n % 2 else (mail.PEER, mail.ME)
        before = [Before(b.kind, b.speaker, b.hops, b.speaker == other) for b in thread]
        hops = flood.hops(sender, reversed(before), None)
        thread.append(Before(Kind.AGENT, sender, hops))
        holding += flood.holds(mail.letter(1, hops=hops).envelope)
    assert holding == flood.HOPS
