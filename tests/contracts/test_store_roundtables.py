"""What every store keeps of roundtables and decisions."""

from __future__ import annotations

import dataclasses

import pytest

from equipment import store_records as make
from equipment.store_records import TALK, number
from mufakat.core.base import Conflict, Millis, ProjectId, RoundtableId, TurnId
from mufakat.core.deliberation import decision, roundtable
from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.decision import Decision, Objection
from mufakat.core.deliberation.merging import Outcome
from mufakat.core.deliberation.position import Claim, Position, Vote
from mufakat.core.deliberation.round import Standing, Word
from mufakat.core.deliberation.roundtable import Order, Remark, Roundtable, Status
from mufakat.core.deliberation.seat import Seat
from mufakat.ports.store import Store

pytestmark = pytest.mark.anyio
ONE = RoundtableId("r_1")
AT = Millis(1_800_000_000_000)
PROJECT = ProjectId("p_1")
SEATS = (
    Seat("A", "claude", "opus", "for 😀", "anthropic", make.agent().id, "claude@host:abcdef"),
    Seat("B", "codex", "", "", "openai", make.agent().id, "codex@host:abcdef"),
)
TABLE = Roundtable(
    id=ONE,
    project=PROJECT,
    conversation=TALK,
    question=number(1),
    number=1,
    seats=SEATS,
    rounds=3,
    created=AT,
    updated=AT,
    order=Order.SEQUENTIAL,
    blind=False,
    role="general",
    budget=12_000,
    caps=Caps(1, None, 0.25, 60.5),
    remarks=(Remark(number(2), 2, 1),),
    server="human@host:000000",
)
POSITION = Position("for", (Claim("A1", "Ja 😀"),), ("B1",), (Vote("B2", "why"),), (Vote("B3"),))
DECISION = Decision(
    project=PROJECT,
    number=0,
    conversation=TALK,
    roundtable=ONE,
    claim="A1",
    text="One store. 😀",
    outcome=Outcome.AGREED,
    agree=("claude@host:abcdef",),
    against=(Objection("codex@host:abcdef", Outcome.OPEN, "no figures"),),
    created=AT,
    updated=AT,
)


async def filled(store: Store) -> None:
    def step(tx) -> None:
        make.setup(tx)
        tx.agents.add(make.agent())
        tx.roundtables.add(TABLE)

    await store.write(step)


async def test_a_table_comes_back_with_its_seats(store: Store) -> None:
    await filled(store)
    assert await store.read(lambda tx: tx.roundtables.get(ONE)) == TABLE
    assert await store.read(lambda tx: tx.roundtables.get(RoundtableId("r_2"))) is None
    assert await store.read(lambda tx: list(tx.roundtables.find("r_"))) == [TABLE]
    assert await store.read(lambda tx: list(tx.roundtables.list(conversation=TALK))) == [TABLE]
    assert await store.read(lambda tx: list(tx.roundtables.list(before=ONE))) == []


async def test_a_table_and_its_seats_move(store: Store) -> None:
    await filled(store)
    assert not await store.read(lambda tx: list(tx.roundtables.running()))
    running = roundtable.start(TABLE, Millis(AT + 1))
    moved = roundtable.drop(running, "B", why="slow", at=Millis(AT + 2))
    await store.write(lambda tx: tx.roundtables.keep(moved))
    assert await store.read(lambda tx: tx.roundtables.get(ONE)) == moved
    assert await store.read(lambda tx: list(tx.roundtables.running())) == [moved]
    paused = dataclasses.replace(roundtable.pause(moved, Millis(AT + 9), why="x"), caps=Caps())
    await store.write(lambda tx: tx.roundtables.keep(paused))
    kept = await store.read(lambda tx: tx.roundtables.get(ONE))
    assert kept == paused
    assert (kept.status, kept.worked) == (Status.PAUSED, 8)
    assert not await store.read(lambda tx: list(tx.roundtables.running()))


async def test_words_are_kept_by_round_and_seat(store: Store) -> None:
    await filled(store)
    asked = Word(ONE, 1, "A", turns=(TurnId("t_1"),))
    said = dataclasses.replace(
        asked,
        standing=Standing.STATED,
        position=POSITION,
        answer=number(3),
        chars=10,
        tokens=4,
        cost=0.5,
        seen=1,
        heard=2,
    )
    missing = Word(ONE, 1, "B", Standing.MISSING, problem="it failed")
    later = Word(ONE, 2, "A")
    for word in (later, asked, missing, said):
        await store.write(lambda tx, word=word: tx.roundtables.keep_word(word))
    assert await store.read(lambda tx: list(tx.roundtables.words(ONE))) == [said, missing, later]
    assert await store.read(lambda tx: tx.roundtables.word(ONE, 1, "A")) == said
    assert await store.read(lambda tx: tx.roundtables.word(ONE, 3, "A")) is None


async def test_decisions_are_numbered_by_project_and_change(store: Store) -> None:
    await filled(store)
    other = dataclasses.replace(DECISION, claim="B1", outcome=Outcome.DISSENT)
    first = await store.write(lambda tx: tx.decisions.add(DECISION))
    second = await store.write(lambda tx: tx.decisions.add(other))
    assert (first.id, second.id) == ("d:1", "d:2")
    reopened = dataclasses.replace(
        first, standing=decision.Standing.REOPENED, reason="codex: it broke", against=()
    )
    await store.write(lambda tx: tx.decisions.keep(reopened))
    assert await store.read(lambda tx: tx.decisions.get(PROJECT, 1)) == reopened
    assert await store.read(lambda tx: tx.decisions.get(PROJECT, 3)) is None
    assert await store.read(lambda tx: list(tx.decisions.of_table(ONE))) == [reopened, second]
    newest = await store.read(lambda tx: list(tx.decisions.of_project(PROJECT, limit=1)))
    assert newest == [second]
    here = await store.read(lambda tx: list(tx.decisions.of_conversation(TALK, limit=9)))
    assert here == [second, reopened]


async def test_a_claim_of_a_table_is_decided_once(store: Store) -> None:
    await filled(store)
    await store.write(lambda tx: tx.decisions.add(DECISION))
    with pytest.raises(Conflict):
        await store.write(lambda tx: tx.decisions.add(DECISION))
