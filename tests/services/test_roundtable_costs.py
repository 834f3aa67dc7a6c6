"""What a table costs beside whole packs for everybody in every round, at equal required items."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.services import talk
from mufakat.services.deliberation.briefs import Briefs
from mufakat.storage.scope import Scope
from services.conftest import House
from services.tables import Member, block, hold, member

pytestmark = pytest.mark.anyio
WHOLE = 15_000
"""Characters of a pack that tells everything in every round."""
WORDS = "We looked at it from every side, and the figures of the last month speak for it. " * 9


def seats(count: int, rounds: int, **more: bool) -> list[Member]:
    """Seats that say about 1,000 characters a round, with a new claim and a vote on all others."""
    found = []
    for at in range(count):
        letter = "ABCDEFGH"[at]
        answers = []
        for round in range(1, rounds + 1):
            others = [
                f"{one}{n}" for one in "ABCDEFGH"[:count] for n in range(1, round) if one != letter
            ]
            claim = {"id": f"{letter}{round}", "text": f"Claim {round} of seat {letter}."}
            answers.append(f"{WORDS}\n{block(claims=[claim], agree=others)}")
        found.append(member(f"engine-{letter.lower()}", *answers, **more))
    return found


async def talked(house: House, *, messages: int = 120) -> str:
    """A conversation with more to tell than any pack takes; answers its id."""
    first = await house.ask("Let us talk about the store of this project.", engine="scripted")

    def step(tx):
        for number in range(messages):
            kind = Kind.AGENT if number % 2 else Kind.PERSON
            speaker = f"old-{number % 3}@host:00000{number % 3}" if number % 2 else "human@h:000000"
            words = f"Message {number}: " + "the store keeps every message for good, " * 12
            talk.append(tx, first.conversation, message.draft(kind, speaker, text=words))

    await house.app.store.write(step)
    return str(first.conversation)


def required(members: list[Member], rounds: int) -> list[str]:
    """What must have reached each seat, by the words that it was told."""
    claims = [
        f"claim {'ABCDEFGH'[at]}{n}: Claim {n} of seat {'ABCDEFGH'[at]}."
        for at in range(len(members))
        for n in range(1, rounds)
    ]
    return ["Which store?", "old-0@host:000000", "old-1@host:000001", "old-2@host:000002", *claims]


async def cost(house: House, members: list[Member], rounds: int) -> tuple[int, int]:
    """Characters that a table sent, and that whole packs with all that was said take."""
    view = await hold(house, members, rounds=rounds, conversation=await talked(house))
    assert view.table.status == "done", view.table.why
    assert view.table.round == rounds
    # A system slot and the text after it are joined by one line end that nobody is sent.
    joins = sum(not run.resume for one in members for run in one.runs)
    assert view.spent.chars == sum(len(told) for one in members for told in one.heard) - joins
    for at, one in enumerate(members):
        told = "\n".join(one.heard)
        own = f"claim {'ABCDEFGH'[at]}"
        missing = [
            item for item in required(members, rounds) if item not in told and own not in item
        ]
        assert not missing, (at, missing)
    return view.spent.chars, len(members) * rounds * WHOLE


async def test_three_seats_in_two_rounds_cost_60_percent_of_whole_packs_at_most(
    house: House, record_property: Callable[[str, object], None]
) -> None:
    spent, naive = await cost(house, seats(3, 2, splits=True), 2)
    record_property("characters", spent)
    print(f"3 x 2: {spent:,} of {naive:,} characters, {spent / naive:.0%}")
    assert naive == 90_000
    assert spent <= 0.6 * naive


async def test_five_seats_in_three_rounds_cost_half_of_whole_packs_at_most(house: House) -> None:
    spent, naive = await cost(house, seats(5, 3, splits=True), 3)
    print(f"5 x 3: {spent:,} of {naive:,} characters, {spent / naive:.0%}")
    assert spent <= 0.5 * naive


async def test_twin_engines_that_do_not_resume_are_told_everything_again(house: House) -> None:
    spent, naive = await cost(house, seats(3, 2, splits=True, resume=False), 2)
    print(f"3 x 2 without resuming: {spent:,} of {naive:,} characters, {spent / naive:.0%}")
    assert spent > 0.6 * naive


class Counter:
    """Counts the statements that gathering runs, apart from what other threads read meanwhile."""

    def __init__(self) -> None:
        self.count = 0
        self._here = threading.local()

    def within(self, call: Callable[..., object]) -> Callable[..., object]:
        def gathering(briefs: Briefs, tx: object) -> object:
            self._here.inside = True
            try:
                return call(briefs, tx)
            finally:
                self._here.inside = False

        return gathering

    def counting(self, rows: Callable[..., object]) -> Callable[..., object]:
        def read(scope: Scope, statement: object, params: object = None) -> object:
            self.count += getattr(self._here, "inside", False)
            return rows(scope, statement, params)

        return read


async def statements(house: House, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Statements that gathering the facts of two rounds of a table runs."""
    counter, conversation = Counter(), await talked(house)
    for name in ("_load", "_read"):
        monkeypatch.setattr(Briefs, name, counter.within(getattr(Briefs, name)))
    monkeypatch.setattr(Scope, "rows", counter.counting(Scope.rows))
    view = await hold(house, seats(count, 2), "Which store, at all?", conversation=conversation)
    assert view.table.round == 2
    monkeypatch.undo()
    return counter.count


async def test_reads_of_the_facts_do_not_grow_with_the_seats(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = await statements(house, 2, monkeypatch)
    many = await statements(house, 8, monkeypatch)
    print(f"statements for the facts of two rounds: {few} with 2 seats, {many} with 8")
    assert few
    assert many <= few
