"""Where the gate gives up, the person finds an open letter: one a turn, never none."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest

from mufakat.core.coordination.gate import BLOCKS, Go, Turn
from mufakat.core.coordination.inbox import Intent, Letter
from mufakat.core.coordination.instance import Instance
from mufakat.ports.store import Transaction
from mufakat.services.coordination import escalation, pause
from services.coordination.mail.conftest import ANN, BOB, CAT, OPERATOR, PERSON, Office, by

pytestmark = pytest.mark.anyio


async def gives_up(office: Office, turn: str = "t1", stops: int = BLOCKS + 1) -> Go:
    """Let a turn stop without an answer until it may end."""
    decisions = [await office.stop(BOB, turn) for _ in range(stops)]
    assert isinstance(decisions[-1], Go) and decisions[-1].gave_up
    return decisions[-1]


async def found(office: Office) -> list[Letter]:
    """What the person finds open."""
    return list(await office.inbox.read(OPERATOR))


async def finds_one_a_turn(office: Office) -> None:
    """The check itself."""
    await office.join(PERSON, project=None)
    asked = await office.send(ANN, BOB, "which port?", intent="request")
    told = await office.send(CAT, BOB, "the port matters", intent="decision")
    assert await found(office) == []
    await gives_up(office, stops=BLOCKS + 3)
    (letter,) = await found(office)
    assert letter.envelope.sender == pause.SYSTEM
    assert letter.envelope.intent is Intent.ALERT and letter.envelope.requires_ack
    assert letter.envelope.refs == (asked.message, told.message)
    assert BOB in letter.text and "2 messages open" in letter.text
    assert f"request {asked.message} from {ANN}" in letter.text
    assert f"decision {told.message} from {CAT}" in letter.text
    assert "which port" not in letter.text
    await office.send(CAT, BOB, "and the host", intent="request")
    await gives_up(office, "t2")
    assert len(await found(office)) == 2


async def test_the_person_finds_one_letter_for_each_turn_that_gave_up(office: Office) -> None:
    await finds_one_a_turn(office)


async def test_q16_twin_without_it_nobody_finds_anything(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(escalation, "escalate", lambda *_, **__: None)
    with pytest.raises(ValueError, match="unpack"):
        await finds_one_a_turn(office)


async def test_q16_twin_that_knows_no_turn_says_it_at_every_stop(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, numbers = escalation.escalate, itertools.count()

    def each(tx: Transaction, person: str, agent: Instance, *, turn: Turn, **more: Any) -> None:
        another = dataclasses.replace(turn, turn=f"{turn.turn}/{next(numbers)}")
        told(tx, person, agent, turn=another, **more)

    monkeypatch.setattr(escalation, "escalate", each)
    with pytest.raises(ValueError, match="unpack"):
        await finds_one_a_turn(office)


async def test_it_stays_until_the_person_has_dealt_with_it(office: Office) -> None:
    await office.join(PERSON, project=None)
    await office.send(ANN, BOB, "which port?", intent="request")
    await gives_up(office)
    (letter,) = await found(office)
    await office.pass_time(400 * 86_400)
    assert [one.delivery.number for one in await found(office)] == [letter.delivery.number]
    await office.inbox.ack(OPERATOR, numbers=(letter.delivery.number,))
    assert await found(office) == []


async def test_a_turn_that_ends_well_opens_nothing(office: Office) -> None:
    await office.join(PERSON, project=None)
    asked = await office.send(ANN, BOB, "which port?", intent="request")
    await office.stop(BOB)
    await office.send(BOB, ANN, "8080", reply_to=asked.message)
    assert isinstance(await office.stop(BOB), Go)
    assert await found(office) == []


async def test_an_agent_without_a_project_is_told_of_in_the_messages_own_thread(
    office: Office,
) -> None:
    await office.join(PERSON, project=None)
    lonely = "gemini@host:dddddd"
    await office.join(lonely, project=None)
    sent = await office.send(ANN, lonely, "anybody?", intent="request")
    for _ in range(BLOCKS + 1):
        await office.gate.stop(by(lonely), session="s", turn="t")
    (letter,) = await found(office)
    assert letter.envelope.conversation == sent.conversation


async def test_without_a_person_the_gate_lets_go_all_the_same(office: Office) -> None:
    await office.send(ANN, BOB, "which port?", intent="request")
    await gives_up(office)
    assert await office.store.read(lambda tx: tx.instances.get(PERSON)) is None
