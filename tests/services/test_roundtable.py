"""A table from its question to its decisions, over engines whose words are known."""

from __future__ import annotations

import pytest

from mufakat.core.deliberation.merging import Outcome
from mufakat.core.deliberation.round import Standing
from mufakat.core.deliberation.roundtable import Status
from services.conftest import House
from services.tables import block, hold, member, three

pytestmark = pytest.mark.anyio


async def test_three_seats_come_to_agreed_open_and_dissent(house: House) -> None:
    members = three()
    view = await hold(house, members)
    assert view.table.status is Status.DONE, view.table.why
    assert [(w.round, w.seat, w.standing) for w in view.words] == [
        (n, seat, Standing.STATED) for n in (1, 2) for seat in "ABC"
    ]
    found = {one.claim: one for one in view.decisions}
    assert {claim: one.outcome for claim, one in found.items()} == {
        "A1": Outcome.AGREED,
        "B1": Outcome.OPEN,
        "C1": Outcome.DISSENT,
    }
    assert len(found["A1"].agree) == 3
    assert [one.why for one in found["C1"].against if one.why] == ["costs money"]
    assert {len(one.runs) for one in members} == {2}
    assert not view.warning


async def test_the_first_round_is_blind_and_later_ones_name_no_vendor(house: House) -> None:
    members = three()
    view = await hold(house, members)
    names = [one.name for one in members]
    for at, one in enumerate(members):
        first, second = one.heard
        own = view.table.seats[at].identity
        others = [seat.identity for seat in view.table.seats if seat.identity != own]
        assert not any(identity in first + second for identity in others)
        assert "<mufakat:positions" not in first
        assert "SQLite is enough." not in first
        if at:
            assert "claim A1: SQLite is enough." in second
            assert "Seat A" in second
        assert not any(f"{name}@" in second for name in names)


async def test_a_bad_block_is_told_once_with_its_line_and_then_unstated(house: House) -> None:
    bad = 'I think so.\n```position\n{\n "stance": "for",\n "agree": ["Z9"]\n}\n```'
    mended = block(claims=[{"id": "A1", "text": "Keep it."}])
    one = member("one", bad, mended)
    two = member("two", "No block at all.")
    view = await hold(house, [one, two], rounds=1)
    a, b = view.words
    assert (a.standing, len(a.turns)) == (Standing.STATED, 2)
    assert "line 5:" in one.heard[1] and "'Z9'" in one.heard[1]
    assert (b.standing, len(b.turns)) == (Standing.UNSTATED, 2)
    assert view.merged.unstated == ("B",)
    assert "does not end with" in b.problem


async def test_a_round_without_a_new_claim_ends_the_table(house: House) -> None:
    view = await hold(house, three(), rounds=5)
    assert view.table.round == 2
    assert view.table.why == "round 2 brought no new claim"


async def test_decisions_return_in_every_later_pack(house: House) -> None:
    view = await hold(house, three())
    later = await house.ask("Go on.", engine="one", conversation=view.table.conversation)
    pack = await house.app.packs.get(later.pack)
    texts = dict(await house.app.packs.texts(pack))
    assert "d:1 agreed: SQLite is enough." in texts["findings"]
    assert "do not re-litigate" in texts["findings"]
    assert "costs money" in texts["findings"]
    elsewhere = await house.ask("Another talk.", engine="one")
    pack = await house.app.packs.get(elsewhere.pack)
    assert "d:1 agreed" in dict(await house.app.packs.texts(pack))["findings"]


async def test_agreed_is_not_reopened_silently_and_a_reopening_keeps_its_reason(
    house: House,
) -> None:
    first = await hold(house, three())
    silent = member("four", block(dissent=["d:1"]), block(dissent=["d:1"]))
    loud = member("five", block(open=[{"id": "d:1", "why": "ten thousand users came"}]))
    second = await hold(house, [silent, loud], rounds=1, conversation=first.table.conversation)
    assert "reopened with a `why` only" in second.words[0].problem
    assert second.words[0].standing is Standing.UNSTATED
    again = (await house.app.roundtables.get(first.table.id)).decisions[0]
    assert (again.id, again.outcome, again.standing) == ("d:1", Outcome.AGREED, "reopened")
    loud_name = second.table.seats[1].identity
    assert again.reason == f"{loud_name}: ten thousand users came"
    later = await house.ask("And now?", engine="one", conversation=first.table.conversation)
    texts = dict(await house.app.packs.texts(await house.app.packs.get(later.pack)))
    assert "d:1 reopened: SQLite is enough." in texts["findings"]
    assert "ten thousand users came" in texts["findings"]
