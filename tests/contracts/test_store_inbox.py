"""What every store promises of mail: gapless numbers, and nothing open is forgotten."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from equipment import coordination_records as make
from equipment.coordination_records import ALICE, BOB, moved, post
from equipment.store_records import TALK, number, say
from mufakat.core import base
from mufakat.core.base import Millis
from mufakat.core.coordination.inbox import Delivery, Envelope, Intent, Status
from mufakat.ports.store import Store, Transaction

pytestmark = pytest.mark.anyio
CAROL = "gemini@host:ca0010"


class Broken(Exception):
    """Raised by a step on purpose."""


async def test_an_envelope_is_kept_whole(store: Store) -> None:
    await store.write(make.join)
    full = make.envelope(
        1,
        to=(BOB, "role:review", "topic:café"),
        intent=Intent.REQUEST,
        priority=3,
        deadline=Millis(50),
        expires=Millis(90),
        reply_to=number(9),
        refs=("file:a", "b"),
        steer=True,
        hops=4,
    )

    def step(tx: Transaction) -> None:
        tx.messages.append(TALK, say("x"), id=number(1))
        tx.inbox.send(full)

    await store.write(step)
    assert await store.read(lambda tx: tx.inbox.envelope(number(1))) == full
    assert await store.read(lambda tx: tx.inbox.envelope(number(2))) is None
    watched = replace(full, watched=True)
    await store.write(lambda tx: tx.inbox.keep_envelope(watched))
    assert await store.read(lambda tx: tx.inbox.envelope(number(1))) == watched
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: tx.inbox.keep_envelope(make.envelope(2)))


async def test_an_envelope_needs_its_message(store: Store) -> None:
    await store.write(make.join)
    with pytest.raises(base.Conflict):
        await store.write(lambda tx: tx.inbox.send(make.envelope(1)))
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: tx.inbox.deliver(make.delivery(1)))


async def test_m4_numbers_are_of_their_inbox(store: Store) -> None:
    def step(tx: Transaction) -> list[list[int]]:
        make.join(tx)
        sent = [post(tx, 1), post(tx, 2, BOB, ALICE), post(tx, 3, ALICE)]
        return [[one.number for one in each] for each in sent]

    assert await store.write(step) == [[1], [2, 1], [2]]
    got = await store.read(lambda tx: tx.instances.get(BOB))
    assert got is not None and got.inbox_head == 2
    assert [one.recipient for one in await store.read(lambda tx: tx.inbox.of(number(2)))] == [
        ALICE,
        BOB,
    ]
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: post(tx, 4, CAROL))
    with pytest.raises(base.Conflict):
        await store.write(lambda tx: tx.inbox.deliver(make.delivery(1)))
    got = await store.read(lambda tx: tx.instances.get(BOB))
    assert got is not None and got.inbox_head == 2
    assert not (await store.check(deep=True)).problems


async def test_m4_sixteen_senders_leave_no_gap(store: Store) -> None:
    await store.write(make.join)

    def step(n: int):
        def run(tx: Transaction) -> list[int]:
            sent = post(tx, n, *((BOB, ALICE) if n % 2 else (BOB,)))
            if n % 5 == 0:
                raise Broken
            return [one.number for one in sent]

        return run

    async def sender(s: int) -> list[list[int]]:
        answers = await asyncio.gather(
            *(store.write(step(s * 20 + n)) for n in range(20)), return_exceptions=True
        )
        return [one for one in answers if isinstance(one, list)]

    sent = [one for each in await asyncio.gather(*map(sender, range(16))) for one in each]
    assert sorted(one[0] for one in sent) == list(range(1, 257))
    assert sorted(one[1] for one in sent if len(one) > 1) == list(range(1, 129))
    page = await store.read(lambda tx: tx.inbox.page(BOB, limit=999))
    assert [one.number for one in page] == list(range(1, 257))
    assert not (await store.check(deep=True)).problems


async def test_a_failed_step_leaves_nothing_in_an_inbox(store: Store) -> None:
    await store.write(make.join)
    await store.write(lambda tx: post(tx, 1))

    def broken(tx: Transaction) -> None:
        post(tx, 2, BOB, ALICE)
        moved(tx, 1, Status.ACKED)
        tx.inbox.keep_envelope(make.envelope(1, watched=True))
        raise Broken

    with pytest.raises(Broken):
        await store.write(broken)

    def left(tx: Transaction) -> object:
        bob = tx.instances.get(BOB)
        first = tx.inbox.envelope(number(1))
        assert bob is not None and first is not None
        page = [(one.number, one.status) for one in tx.inbox.page(BOB)]
        return bob.inbox_head, page, tx.inbox.page(ALICE), first.watched

    assert await store.read(left) == (1, [(1, Status.QUEUED)], [], False)
    assert [one.number for one in await store.write(lambda tx: post(tx, 2))] == [2]


async def test_a_delivery_is_changed_but_never_its_number(store: Store) -> None:
    await store.write(make.join)
    (sent,) = await store.write(lambda tx: post(tx, 1))
    changed = Delivery(
        BOB, 1, number(1), Status.SHOWN, Millis(9), Millis(99), 4, 2, "turn-1", "a note é"
    )
    await store.write(lambda tx: tx.inbox.keep(changed))
    assert await store.read(lambda tx: tx.inbox.get(BOB, number(1))) == changed
    assert sent.number == 1
    assert await store.read(lambda tx: tx.inbox.get(ALICE, number(1))) is None
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: tx.inbox.keep(replace(changed, recipient=ALICE)))


async def test_pages_of_an_inbox(store: Store) -> None:
    await store.write(make.join)
    await store.write(lambda tx: [post(tx, n) for n in range(1, 9)])
    closed = (Status.ACKED, Status.ANSWERED, Status.DECLINED, Status.EXPIRED, Status.DEAD)
    await store.write(lambda tx: [moved(tx, n + 1, status) for n, status in enumerate(closed)])
    await store.write(lambda tx: moved(tx, 7, Status.OFFERED))

    async def numbers(**how: object) -> list[int]:
        return [one.number for one in await store.read(lambda tx: tx.inbox.page(BOB, **how))]

    assert await numbers() == list(range(1, 9))
    assert await numbers(after=3, limit=2) == [4, 5]
    assert await numbers(open_only=True) == [6, 7, 8]
    assert await numbers(open_only=True, after=6, limit=1) == [7]
    assert await store.read(lambda tx: tx.inbox.unread()) == 3
    await store.write(lambda tx: moved(tx, 7, Status.SHOWN))
    assert await store.read(lambda tx: tx.inbox.unread()) == 2
    assert await numbers(open_only=True) == [6, 7, 8]


async def test_m2_held_mail_gets_its_number_when_its_recipient_joins(store: Store) -> None:
    def step(tx: Transaction) -> None:
        make.join(tx)
        post(tx, 1)
        for n, name in ((2, "role:review"), (3, CAROL), (4, "role:review")):
            tx.messages.append(TALK, say("x"), id=number(n))
            tx.inbox.send(make.envelope(n, to=(name,)))
            held = tx.inbox.deliver(make.delivery(n, name, status=Status.HELD))
            assert held.number == 0

    await store.write(step)
    held = await store.read(lambda tx: tx.inbox.held("role:review"))
    assert [(one.message, one.number) for one in held] == [(number(2), 0), (number(4), 0)]
    assert await store.read(lambda tx: tx.inbox.unread()) == 1

    def joins(tx: Transaction) -> list[int]:
        tx.instances.keep(make.instance(CAROL))
        got = []
        for one in (*tx.inbox.held(CAROL), *tx.inbox.held("role:review")):
            if one.recipient != CAROL:
                tx.inbox.keep(replace(one, status=Status.ACKED, note=f"to {CAROL}"))
            sent = replace(one, recipient=CAROL, status=Status.QUEUED)
            got.append(tx.inbox.deliver(sent).number)
        return got

    assert await store.write(joins) == [1, 2, 3]
    page = await store.read(lambda tx: tx.inbox.page(CAROL, open_only=True))
    assert [(one.number, one.message) for one in page] == [
        (1, number(3)),
        (2, number(2)),
        (3, number(4)),
    ]
    assert not await store.read(lambda tx: tx.inbox.held("role:review"))
    assert not await store.read(lambda tx: tx.inbox.held(CAROL))
    assert not (await store.check(deep=True)).problems


async def test_deliveries_by_status_newest_first(store: Store) -> None:
    await store.write(make.join)
    await store.write(lambda tx: [post(tx, n, BOB, ALICE) for n in (1, 2, 3)])
    await store.write(lambda tx: moved(tx, 2, Status.DEAD, at=Millis(70)))
    await store.write(lambda tx: moved(tx, 1, Status.DEAD, ALICE, at=Millis(80)))
    dead = await store.read(lambda tx: tx.inbox.with_status(Status.DEAD))
    assert [(one.recipient, one.message) for one in dead] == [(ALICE, number(1)), (BOB, number(2))]
    assert len(await store.read(lambda tx: tx.inbox.with_status(Status.QUEUED, limit=3))) == 3


async def test_what_a_sender_sent_lately(store: Store) -> None:
    await store.write(make.join)
    await store.write(lambda tx: [post(tx, n) for n in (1, 2, 3, 4)])
    await store.write(lambda tx: post(tx, 5, ALICE, sender=BOB))

    async def sent(after: int, limit: int = 100) -> list[str]:
        by = lambda tx: tx.inbox.sent_by(ALICE, after=Millis(after), limit=limit)  # noqa: E731
        return [one.message for one in await store.read(by)]

    assert await sent(0) == [number(n) for n in (1, 2, 3, 4)]
    assert await sent(2) == [number(3), number(4)]
    assert await sent(0, 2) == [number(1), number(2)]


async def due(store: Store, now: int) -> list[Envelope]:
    return list(await store.read(lambda tx: tx.inbox.due(Millis(now))))


async def test_an_envelope_falls_due_until_it_is_closed(store: Store) -> None:
    await store.write(make.join)
    request = Intent.REQUEST

    def step(tx: Transaction) -> None:
        post(tx, 1)
        post(tx, 2, deadline=Millis(50), intent=request)
        post(tx, 3, BOB, ALICE, expires=Millis(40))
        post(tx, 4, deadline=Millis(60), expires=Millis(70), intent=request)

    await store.write(step)
    ids = lambda found: [one.message for one in found]  # noqa: E731
    assert await due(store, 39) == []
    assert await store.read(lambda tx: tx.inbox.earliest()) == 40
    assert ids(await due(store, 40)) == [number(3)]
    assert ids(await due(store, 99)) == [number(3), number(2), number(4)]
    await store.write(lambda tx: moved(tx, 3, Status.ACKED))
    assert ids(await due(store, 40)) == [number(3)]
    await store.write(lambda tx: moved(tx, 3, Status.EXPIRED, ALICE))
    assert ids(await due(store, 40)) == []
    # A request that is only acknowledged is not answered.
    await store.write(lambda tx: [moved(tx, n, Status.ACKED) for n in (2, 4)])
    assert ids(await due(store, 99)) == [number(2), number(4)]
    told = [replace(one, watched=True) for one in await due(store, 99)]
    await store.write(lambda tx: [tx.inbox.keep_envelope(one) for one in told])
    assert ids(await due(store, 99)) == []
    assert await store.read(lambda tx: tx.inbox.earliest()) is None
    await store.write(lambda tx: moved(tx, 4, Status.QUEUED))
    assert ids(await due(store, 99)) == [number(4)]
    assert await store.read(lambda tx: tx.inbox.earliest()) == 70


async def test_the_end_of_an_offer_is_something_to_wait_for(store: Store) -> None:
    await store.write(make.join)
    await store.write(lambda tx: [post(tx, n, deadline=Millis(500)) for n in (1, 2)])
    offered = {"offered_until": Millis(90), "offered_to": 1}
    await store.write(lambda tx: moved(tx, 2, Status.OFFERED, **offered))
    assert await store.read(lambda tx: tx.inbox.earliest()) == 90
    await store.write(lambda tx: moved(tx, 2, Status.SHOWN))
    assert await store.read(lambda tx: tx.inbox.earliest()) == 500


async def test_requests_that_somebody_waits_for(store: Store) -> None:
    await store.write(make.join)

    def step(tx: Transaction) -> None:
        for n in range(1, 6):
            post(tx, n, BOB, ALICE, intent=Intent.REQUEST)
        post(tx, 6, intent=Intent.DECISION)
        moved(tx, 1, Status.ACKED)
        moved(tx, 2, Status.ANSWERED)
        moved(tx, 3, Status.DECLINED)
        tx.inbox.keep_envelope(make.envelope(4, intent=Intent.REQUEST, watched=True))

    await store.write(step)

    async def awaited(recipient: str) -> list[str]:
        return [
            one.message for one in await store.read(lambda tx: tx.inbox.awaited_from(recipient))
        ]

    assert await awaited(BOB) == [number(1), number(5)]
    assert await awaited(ALICE) == [number(n) for n in (1, 2, 3, 5)]


async def test_many_are_read_as_one(store: Store) -> None:
    await store.write(make.join)
    for at in range(1, 40):
        await store.write(lambda tx, at=at: post(tx, at))
    ids = [number(at) for at in range(1, 45)]

    def query(tx: Transaction) -> None:
        envelopes, said = tx.inbox.envelopes(ids), tx.messages.some(ids)
        assert envelopes == {id: tx.inbox.envelope(id) for id in ids[:39]}
        assert said == {id: tx.messages.get(id) for id in ids[:39]}
        rows = tx.inbox.among(BOB, ids)
        assert {row.message: row for row in rows} == {id: tx.inbox.get(BOB, id) for id in ids[:39]}
        assert not (tx.inbox.envelopes([]) or tx.messages.some([]) or tx.inbox.among(BOB, []))
        assert not tx.inbox.among(CAROL, ids)

    await store.read(query)


async def test_who_spoke_last_is_told_without_the_words(store: Store) -> None:
    await store.write(make.join)
    for at in range(1, 6):
        await store.write(lambda tx, at=at: post(tx, at))
    spoken = await store.read(lambda tx: tx.messages.said(TALK, limit=3))
    whole = await store.read(lambda tx: tx.messages.page(TALK, after=0, limit=9))
    assert [(one.id, one.kind, one.speaker) for one in spoken] == [
        (one.id, one.kind, one.speaker) for one in reversed(whole[-3:])
    ]


async def test_a_glance_sees_what_is_committed_and_writes_nothing(store: Store) -> None:
    await store.write(make.join)
    await store.write(lambda tx: post(tx, 1))
    assert await store.glance(lambda tx: tx.inbox.envelope(number(1))) is not None
    with pytest.raises(base.StoreReadOnly):
        await store.glance(lambda tx: post(tx, 2))
    await store.write(lambda tx: post(tx, 2))
    assert await store.glance(lambda tx: tx.inbox.envelope(number(2))) is not None
    with pytest.raises(Broken):
        await store.glance(_break)
    assert (
        await store.glance(lambda tx: tx.events.after(base.Revision(0), limit=1, kinds=["x"])) == []
    )


def _break(tx: Transaction) -> None:
    tx.events.after(base.Revision(0), limit=1, kinds=["x"])
    raise Broken
