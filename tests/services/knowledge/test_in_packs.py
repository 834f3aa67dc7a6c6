"""Knowledge in the packs of real turns: gathered, told, learnt from, switched off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.core import secrets
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.knowledge.found import Found
from mufakat.core.pack.tiering import Use
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Reply, Status
from mufakat.ports.engine import Capabilities, OnEvent, Run
from mufakat.services.knowledge.gathering import Gathering, Subject
from mufakat.settings import Settings
from services.conftest import House, Puppet

pytestmark = pytest.mark.anyio
PLAIN = Capabilities()
QUESTION = "Where is parse_args defined?"


async def code(subject: Subject) -> Sequence[Found]:
    text = "def parse_args(): ...\n" * 40
    return [Found("src/args.py:1-40", "code", "src/args.py:1-40 parse_args", text)]


async def late(subject: Subject) -> Sequence[Found]:
    await asyncio.sleep(60)
    return []


def saying(text: str, tool: str = "") -> Puppet:
    async def behave(run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
        if tool:
            await on_event(stream.Tool("1", "read", stream.ToolStatus.OK, input=tool))
        return Reply(Status.DONE, text=text)

    return Puppet("puppet", behave, PLAIN)


def gather(house: House, **sources: object) -> None:
    packing = house.app.turns._packing  # noqa: SLF001 - known sources in place of the room's own
    packing._gathering = Gathering(sources, secrets.scrub, seconds=0.2)  # noqa: SLF001


async def pack_of(house: House, turn: object) -> object:
    return await house.app.packs.get(turn.pack)


async def use_of(house: House) -> Use | None:
    project = (await house.app.talk.ensure_project(str(house.project))).id
    return await house.app.store.read(lambda tx: tx.usage.get(project, "code"))


async def test_a_code_question_is_told_code_with_its_reason(house: House) -> None:
    gather(house, code=code, graph=late)
    puppet = saying("In src/args.py.")
    house.seat(puppet)
    turn = await house.ask(QUESTION, engine="puppet")
    told = puppet.runs[0].delivery.user
    assert "def parse_args" in told
    assert "unavailable: graph: timed out after 200 ms" in told
    receipt = (await pack_of(house, turn)).receipt
    assert "code question: it names the identifier parse_args" in receipt.notes
    assert [gap.source for gap in receipt.unavailable] == ["graph"]
    row = next(one for one in receipt.sections if one.kind == "code")
    assert [item.source for item in row.items] == ["code"]


KEY = "sk-ant-api03-" + "Ab1" * 31 + "AA"


async def test_row_36_secrets_of_a_source_are_in_no_pack(house: House) -> None:
    async def leaking(subject: Subject) -> Sequence[Found]:
        return [Found("a.py:1-1", "code", f"a.py {KEY}", f"key = '{KEY}'")]

    gather(house, code=leaking)
    puppet = saying("Hm.")
    house.seat(puppet)
    await house.ask(QUESTION, engine="puppet")
    told = puppet.runs[0].delivery.user
    assert "a.py" in told and KEY not in told


async def test_another_question_asks_no_source_of_code(house: House) -> None:
    asked = []

    async def counting(subject: Subject) -> Sequence[Found]:
        asked.append(subject.text)
        return await code(subject)

    gather(house, code=counting)
    house.seat(saying("Hello."))
    await house.ask("Write a poem.", engine="puppet")
    assert asked == []


async def test_use_is_seen_in_the_answer_and_in_tool_calls(house: House) -> None:
    gather(house, code=code)
    for puppet in (saying("No idea."), saying("See args.py."), saying("Hm.", "src/args.py")):
        house.seat(puppet)
        await house.ask(QUESTION, engine="puppet")
    use = await use_of(house)
    assert use is not None
    assert (use.requests, use.pushed, use.used, use.pulled) == (3, 3, 2, 0)
    assert use.pushed_chars > 900


async def test_twenty_unused_turns_change_the_tier_and_the_receipt_says_so(house: House) -> None:
    gather(house, code=code)
    puppet = saying("No idea.")
    house.seat(puppet)
    for _ in range(20):
        await house.ask(QUESTION, engine="puppet")
    use = await use_of(house)
    assert use is not None and not use.push
    for _ in range(20):
        await house.ask(QUESTION, engine="puppet")
    assert "def parse_args" not in puppet.runs[-1].delivery.user
    turn = await house.ask(QUESTION, engine="puppet")
    notes = (await pack_of(house, turn)).receipt.notes
    assert any(note.startswith("tiering: code is pulled: P(use) 0.0") for note in notes), notes
    forced = await house.ask(QUESTION, engine="puppet", mode="full")
    assert forced.status is Status.DONE
    assert "def parse_args" in puppet.runs[-1].delivery.user


async def test_it_can_be_switched_off(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "off"
    app = await application.build(Settings(home=home, adaptive_tiering=False))
    try:
        house = House(app, project, home)
        gather(house, code=code)
        puppet = saying("No idea.")
        house.seat(puppet)
        for _ in range(21):
            await house.ask(QUESTION, engine="puppet")
        assert "def parse_args" in puppet.runs[-1].delivery.user
    finally:
        await app.close()


async def test_a_session_linked_by_hand_makes_a_full_pack_that_tells_it(house: House) -> None:
    puppet = saying("The port is TEAL-7.")
    house.seat(puppet)
    before = await house.ask("Which port?", engine="puppet")
    here = await house.ask("Hello.", engine="puppet")
    by = Principal(Right.OPERATOR, "human@web:000000")
    await house.app.knowledge.links.add(by, here.conversation, before.conversation)
    turn = await house.ask("Go on.", engine="puppet", conversation=here.conversation)
    receipt = (await pack_of(house, turn)).receipt
    assert (receipt.mode, receipt.reason) == ("full", "explicit-attachments")
    row = next(one for one in receipt.sections if one.kind == "linked-sessions")
    assert [item.id for item in row.items] == [f"session:{before.conversation}"]
    assert "TEAL-7" in puppet.runs[-1].delivery.user
