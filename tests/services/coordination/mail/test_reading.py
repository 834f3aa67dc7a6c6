"""Reading: nothing is read by accident, nothing is lost, and every end of a message is told."""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mufakat.core.base import BadCursor, Conflict, NotAllowed
from mufakat.core.coordination import delivery
from mufakat.core.coordination.inbox import Status
from mufakat.core.coordination.state import State
from mufakat.services.coordination import due, inbox
from services.coordination.mail.conftest import ANN, BOB, CAT, OPERATOR, Office, by, opened

pytestmark = pytest.mark.anyio


async def test_m4_numbers_are_gapless_and_in_the_order_of_sending(office: Office) -> None:
    sends = [office.send(ANN if n % 2 else CAT, BOB, f"{n}") for n in range(20)]
    await asyncio.gather(*sends)
    letters = await office.letters(BOB)
    assert [one.delivery.number for one in letters] == list(range(1, 21))
    numbers = [one.envelope.message for one in letters]
    said = await office.store.read(lambda tx: [tx.messages.get(id).number for id in numbers])
    assert said == sorted(said)


async def test_reading_changes_nothing(office: Office) -> None:
    await office.send(ANN, BOB)
    before = await office.rows(BOB)
    await office.inbox.read(by(BOB))
    assert await office.rows(BOB) == before


async def test_what_is_due_is_new_or_still_needs_an_answer(office: Office) -> None:
    for n in range(4):
        await office.send(ANN, BOB, f"asked {n}", intent="request")
        await office.send(ANN, BOB, f"told {n}")
    await office.inbox.read(by(BOB))
    await office.inbox.shown(by(BOB), (1, 2, 3, 4))
    await office.inbox.ack(by(BOB), numbers=(1,))
    found = await office.inbox.read(by(BOB), due_only=True)
    assert [one.text for one in found] == ["asked 1", "asked 2", "told 2", "asked 3", "told 3"]
    assert [one.delivery.number for one in found] == [3, 5, 6, 7, 8]
    after = await office.inbox.read(by(BOB), due_only=True, after=5, limit=2)
    assert [one.delivery.number for one in after] == [6, 7]
    # What is due can be acknowledged by who read it.
    await office.inbox.ack(by(BOB), numbers=(8,))


async def test_what_is_due_is_found_behind_any_number_of_read_messages(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due, "AT_ONCE", 3)
    for n in range(10):
        await office.send(ANN, BOB, f"told {n}")
    await office.inbox.shown(by(BOB), tuple(range(1, 11)))
    await office.send(ANN, BOB, "new")
    assert [one.text for one in await office.inbox.read(by(BOB), due_only=True, limit=1)] == ["new"]


async def test_case_038_somebody_elses_read_consumes_nothing(office: Office) -> None:
    await office.send(ANN, BOB)
    assert await office.inbox.read(by(CAT)) == []
    assert await office.inbox.claim(by(CAT), limit=10) == ()
    with pytest.raises(BadCursor):
        await office.inbox.ack(by(CAT), numbers=(1,))
    with pytest.raises(NotAllowed):
        await office.inbox.of(by(CAT), BOB)
    assert len(await office.inbox.of(OPERATOR, BOB)) == 1
    assert await office.statuses(BOB) == ["queued"]


async def test_a_claim_is_one_consumers_for_a_minute_then_it_is_offered_again(
    office: Office,
) -> None:
    await office.send(ANN, BOB)
    first, second = await asyncio.gather(*[office.inbox.claim(by(BOB), limit=5) for _ in range(2)])
    assert len(first) + len(second) == 1
    await office.pass_time(59)
    assert await office.inbox.claim(by(BOB), limit=5) == ()
    await office.pass_time(2)
    assert await office.statuses(BOB) == ["queued"]
    assert len(await office.inbox.claim(by(BOB), limit=5)) == 1


async def test_case_021_a_waiting_claim_gets_the_message_when_it_comes(office: Office) -> None:
    claim = asyncio.create_task(office.inbox.claim(by(BOB), limit=5, wait_seconds=30))
    await asyncio.sleep(0.05)
    await office.send(ANN, BOB, "at last")
    assert [one.text for one in await asyncio.wait_for(claim, 10)] == ["at last"]


async def test_a_claim_that_waits_in_vain_ends(office: Office) -> None:
    assert await office.inbox.claim(by(BOB), limit=5, wait_seconds=0.05) == ()


async def test_case_022_an_offer_that_nobody_confirmed_is_not_read(office: Office) -> None:
    await office.send(ANN, BOB)
    await office.inbox.claim(by(BOB), limit=5)
    await office.pass_time(61)
    await office.inbox.claim(by(BOB), limit=5)
    assert await office.inbox.shown(by(BOB), (1,)) == 1
    assert await office.statuses(BOB) == ["shown"]
    assert await office.inbox.shown(by(BOB), (1,)) == 0


@pytest.mark.parametrize("upto", [0, -1, 3, 4, 2**63, 2**70])
async def test_row_28_an_ack_beyond_what_was_delivered(office: Office, upto: int) -> None:
    for n in range(3):
        await office.send(ANN, BOB, f"{n}")
    await office.inbox.claim(by(BOB), limit=2)
    with pytest.raises(BadCursor):
        await office.inbox.ack(by(BOB), upto=upto)
    with pytest.raises(BadCursor):
        await office.inbox.ack(by(BOB), numbers=(upto,))
    assert await office.inbox.ack(by(BOB), upto=2) == 2
    assert await office.inbox.ack(by(BOB), upto=1) == 2


async def test_m5_what_a_session_fetched_it_may_acknowledge_and_no_other_session(
    office: Office,
) -> None:
    for n in range(3):
        await office.send(ANN, BOB, f"{n}")
    await office.inbox.read(by(BOB), limit=2)
    with pytest.raises(BadCursor):
        await office.inbox.ack(by(BOB), upto=3)
    assert await office.statuses(BOB) == ["queued"] * 3
    assert await office.inbox.ack(by(BOB), numbers=(2,)) == 0
    assert await office.inbox.ack(by(BOB), upto=1) == 2
    await office.store.write(lambda tx: tx.instances.keep(_epoch(tx, 2)))
    await office.inbox.of(OPERATOR, BOB)
    with pytest.raises(BadCursor):
        await office.inbox.ack(by(BOB, 2), numbers=(3,))
    await office.inbox.read(by(BOB, 2))
    assert await office.inbox.ack(by(BOB, 2), numbers=(3,)) == 3


def _epoch(tx, epoch: int):
    return dataclasses.replace(tx.instances.get(BOB), epoch=epoch)


async def test_the_cursor_waits_for_what_is_still_open(office: Office) -> None:
    for n in range(3):
        await office.send(ANN, BOB, f"{n}")
    await office.inbox.shown(by(BOB), (2, 3))
    assert await office.inbox.ack(by(BOB), numbers=(2,)) == 0
    assert await office.inbox.ack(by(BOB), upto=3) == 0
    assert await office.statuses(BOB) == ["queued", "acked", "acked"]
    await office.inbox.shown(by(BOB), (1,))
    assert await office.inbox.ack(by(BOB), upto=1) == 3


async def test_m5_what_an_older_session_was_given_is_not_acked_by_the_newer(
    office: Office,
) -> None:
    await office.send(ANN, BOB)
    await office.inbox.claim(by(BOB), limit=1)

    def resume(tx) -> None:
        tx.instances.keep(dataclasses.replace(tx.instances.get(BOB), epoch=2))

    await office.store.write(resume)
    with pytest.raises(Conflict):
        await office.inbox.ack(by(BOB), upto=1)
    with pytest.raises(BadCursor):
        await office.inbox.ack(by(BOB, 2), upto=1)


async def test_a_declined_request_is_told_to_its_sender(office: Office) -> None:
    await office.send(ANN, BOB, "do it", intent="request")
    await office.inbox.claim(by(BOB), limit=1)
    assert await office.inbox.ack(by(BOB), numbers=(1,), decline="not my part") == 1
    assert await office.statuses(BOB) == ["declined"]
    assert "declined your request" in (await office.texts(ANN))[0]
    assert "not my part" in (await office.texts(ANN))[0]


async def test_case_035_a_deadline_of_somebody_offline_is_told_to_the_sender(
    office: Office,
) -> None:
    await _leave(office, BOB)
    sent = await office.send(ANN, BOB, "there?", intent="request", deadline_seconds=60)
    assert sent.offline == (BOB,)
    await office.pass_time(59)
    assert await office.texts(ANN) == []
    await office.pass_time(2)
    assert f"{BOB} is offline, undeliverable" in (await office.texts(ANN))[0]
    await office.pass_time(100)
    assert len(await office.texts(ANN)) == 1
    assert await office.statuses(BOB) == ["queued"]


async def _leave(office: Office, who: str) -> None:
    def step(tx) -> None:
        there = tx.instances.get(who)
        gone = dataclasses.replace(there.standing, state=State.OFFLINE)
        tx.instances.keep(dataclasses.replace(there, standing=gone))

    await office.store.write(step)


@pytest.mark.parametrize("shown", [False, True])
async def test_case_037_expiry_does_not_depend_on_how_far_a_message_got(
    office: Office, shown: bool
) -> None:
    await office.send(ANN, BOB, "soon", intent="request", ttl_seconds=60)
    if shown:
        await office.inbox.shown(by(BOB), (1,))
    await office.pass_time(61)
    assert await office.statuses(BOB) == ["expired"]
    assert "expired" in (await office.texts(ANN))[0]
    assert (await office.instance(BOB)).acked == 1
    assert len(await office.events("inbox.expired")) == 1
    await office.pass_time(61)
    assert len(await office.texts(ANN)) == 1


async def test_a_request_left_unanswered_at_idle_is_told_once(office: Office) -> None:
    await office.send(ANN, BOB, "please", intent="request")
    for _ in range(2):
        there = await office.instance(BOB)
        await office.store.write(lambda tx, there=there: inbox.went_idle(tx, there))
    assert len(await office.texts(ANN)) == 1
    assert "went idle without an answer" in (await office.texts(ANN))[0]


async def test_an_answered_request_is_not_told_of(office: Office) -> None:
    asked = await office.send(ANN, BOB, "please", intent="request")
    await office.send(BOB, ANN, "done", reply_to=asked.message)
    there = await office.instance(BOB)
    await office.store.write(lambda tx: inbox.went_idle(tx, there))
    assert await office.texts(ANN) == ["done"]


async def test_case_026_a_dead_letter_is_seen_and_goes_again(office: Office) -> None:
    sent = await office.send(ANN, BOB, "please", intent="request")
    row = (await office.rows(BOB))[0]
    await office.store.write(lambda tx: inbox.bury(tx, row, why="shown 5 times"))
    assert [one.text for one in await office.inbox.dead()] == ["please"]
    assert "is a dead letter" in (await office.texts(ANN))[0]
    with pytest.raises(NotAllowed):
        await office.inbox.redeliver(by(CAT), sent.message, BOB)
    again = await office.inbox.redeliver(by(ANN), sent.message, BOB)
    assert (again.delivery.status, again.delivery.times) == (Status.QUEUED, 0)
    assert await office.inbox.dead() == []
    assert [one.text for one in await office.inbox.claim(by(BOB), limit=5)] == ["please"]
    with pytest.raises(Conflict):
        await office.inbox.redeliver(by(ANN), sent.message, BOB)


async def test_mufakat_tells_of_itself_and_nobody_is_told_of_that(office: Office) -> None:
    await office.store.write(lambda tx: inbox.tell(tx, BOB, "your lease ran out", urgent=True))
    letter = (await office.letters(BOB))[0]
    assert (letter.envelope.priority, letter.envelope.requires_ack) == (3, True)
    await office.pass_time(8 * 86_400)
    assert await office.statuses(BOB) == ["expired"]


async def test_whoever_is_nobody_is_told_nothing(office: Office) -> None:
    told = await office.store.write(lambda tx: inbox.tell(tx, "codex@host:ffffff", "x"))
    assert told is None


ACTS = st.lists(st.sampled_from(["send", "claim", "show", "ack", "minute"]), max_size=30)


@given(ACTS)
@settings(max_examples=20)
async def test_m4_whatever_a_reader_does_no_message_is_lost_or_read_unseen(
    acts: list[str],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as office:
            await _play(office, acts)


async def _play(office: Office, acts: list[str]) -> None:
    seen: set[int] = set()
    for act in acts:
        if act == "send":
            await office.send(ANN, BOB, f"{len(await office.rows(BOB))}")
        elif act == "claim":
            claimed = await office.inbox.claim(by(BOB), limit=2)
            seen |= {one.delivery.number for one in claimed}
        elif act == "show" and seen:
            await office.inbox.shown(by(BOB), tuple(seen))
        elif act == "ack" and seen:
            await office.inbox.ack(by(BOB), upto=max(seen))
        elif act == "minute":
            await office.pass_time(61)
    rows = await office.rows(BOB)
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert {row.number for row in rows if row.status in delivery.DONE} <= seen
