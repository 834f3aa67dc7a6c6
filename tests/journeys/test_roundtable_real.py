"""A roundtable of three real CLIs in two rounds, with a scripted model behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from equipment import wire
from equipment.model_server import server
from mufakat.app import App
from mufakat.core.deliberation.merging import Outcome
from mufakat.core.deliberation.round import Standing
from mufakat.core.deliberation.roundtable import Status
from mufakat.core.deliberation.seat import Wanted
from mufakat.services.deliberation.opening import Asked

pytestmark = [pytest.mark.anyio, pytest.mark.clis, pytest.mark.timeout(300)]
SEATS = ("claude", "codex", "gemini")
LETTERS = dict(zip("ABC", SEATS, strict=True))


def said(letter: str, round: int) -> str:
    """What the model says for a seat in a round."""
    claims = [{"id": f"{letter}1", "text": f"Claim of seat {letter}."}] if round == 1 else []
    others = [f"{one}1" for one in "ABC" if one != letter] if round == 2 else []
    block = {"stance": f"round {round}", "claims": claims, "agree": others}
    return f"Words of seat {letter} in round {round}.\n```position\n{json.dumps(block)}\n```"


@pytest.fixture
def model() -> Iterator[server.ModelServer]:
    lanes = [
        {
            "match": rf"You are Seat {letter}\.",
            "turns": [{"text": said(letter, round)} for round in (1, 2)],
        }
        for letter in LETTERS
    ]
    with server.ModelServer({"lanes": lanes, "default": {"text": "Nobody asked me."}}) as running:
        yield running


async def test_three_clis_in_two_rounds_agree_blind_first_and_by_letter(
    app: App, project, model: server.ModelServer
) -> None:
    asked = Asked("What is this project about?", str(project), tuple(map(Wanted, SEATS)))
    view = await app.roundtables.start(asked)
    view = await app.roundtables.wait(view.table.id, seconds=240)
    assert view.table.status is Status.DONE, view.table.why
    assert [(w.round, w.seat, w.standing, w.problem) for w in view.words] == [
        (round, letter, Standing.STATED, "") for round in (1, 2) for letter in LETTERS
    ]
    assert {one.outcome for one in view.decisions} == {Outcome.AGREED}
    assert not view.warning
    for seat in view.table.seats:
        turns = [turn for word in view.words if word.seat == seat.label for turn in word.turns]
        assert len(turns) == 2
        first, second = [await app.packs.get((await app.turns.get(id)).pack or "") for id in turns]
        _, sent = await app.packs.sent(second)
        assert second.resumed, second.resume_why
        others = [one for one in view.table.seats if one is not seat]
        for other in others:
            assert f"claim {other.label}1: Claim of seat {other.label}." in sent
            assert other.identity not in sent
            assert other.engine not in sent.replace(str(project), "")
        told = "\n".join(text for _, text in await app.packs.texts(first))
        assert "Claim of seat" not in told
        bodies = [
            wire.plain(one.body) for one in model.requests if f"Seat {seat.label}." in str(one.body)
        ]
        assert any(wire.find_text(body, "Round 2 of 2") for body in bodies)
    by_round = [sum(w.chars for w in view.words if w.round == n) for n in (1, 2)]
    print(f"characters sent: round 1 {by_round[0]:,}, round 2 {by_round[1]:,}")
    assert by_round[1] < by_round[0] / 2
    assert sum(word.tokens for word in view.words) > 0
