"""The same question through four real CLIs: the same items arrive, and each can go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipment import wire
from equipment.model_server import server
from journeys.conftest import ENGINES
from mufakat.app import App
from mufakat.core import quote
from mufakat.core.talk.turn import Status, Turn
from mufakat.services.request import Ask

pytestmark = [pytest.mark.anyio, pytest.mark.clis, pytest.mark.timeout(240)]
QUESTION = "What is this project, and what does @README.md say?"


async def ask(app: App, project: Path, prompt: str, **more: str) -> Turn:
    turn = await app.turns.ask(Ask(prompt, str(project), **more))
    ended = await app.turns.wait(turn.id, seconds=100)
    assert ended.status is Status.DONE, (ended.failure, ended.message)
    return ended


def last_body(model: server.ModelServer) -> object:
    return wire.plain(model.requests[-1].body)


async def test_the_four_request_bodies_carry_the_same_items(
    app: App, project: Path, model: server.ModelServer
) -> None:
    parities = set()
    for name in ENGINES:
        turn = await ask(app, project, QUESTION, engine=name)
        pack = await app.packs.get(turn.pack or "")
        body = last_body(model)
        for kind, text in await app.packs.texts(pack):
            assert wire.find_text(body, text), f"{name}: section {kind} did not arrive whole"
        assert turn.usage.fresh > 0
        assert turn.usage.output > 0
        parities.add(pack.receipt.parity)
        answer = await app.talk.message(turn.answer or "")
        assert answer.text.startswith("Answer number")
        assert answer.speaker.startswith(f"{name}@")
    assert len(parities) == 1


async def test_twin_a_pack_with_an_item_less_is_noticed_on_the_wire(
    app: App, project: Path, model: server.ModelServer
) -> None:
    turn = await ask(app, project, QUESTION, engine="claude", persona="concise")
    pack = await app.packs.get(turn.pack or "")
    other = await ask(app, project, QUESTION, engine="claude")
    texts = dict(await app.packs.texts(pack))
    assert not wire.find_text(last_body(model), texts["role"])
    assert (await app.packs.get(other.pack or "")).receipt.parity != pack.receipt.parity


async def test_claude_gets_the_pack_in_its_system_slot_and_the_others_inline(
    app: App, project: Path, model: server.ModelServer
) -> None:
    await ask(app, project, QUESTION, engine="claude")
    body = model.requests[-1].body
    mark = quote.open_section("identity").strip()
    assert all(path.startswith("$.system") for path in wire.find_text(body, mark))
    assert all(path.startswith("$.messages") for path in wire.find_text(body, "what does @"))
    await ask(app, project, QUESTION, engine="codex")
    found = wire.find_text(model.requests[-1].body, mark)
    assert found
    assert found == wire.find_text(model.requests[-1].body, "what does @")


@pytest.mark.parametrize("name", ENGINES)
async def test_a_second_turn_resumes_and_is_told_only_what_is_new(
    app: App, project: Path, model: server.ModelServer, name: str
) -> None:
    first = await ask(app, project, "Remember the word PELICAN.", engine=name)
    between = await ask(
        app, project, "Say something.", engine="scripted", conversation=first.conversation
    )
    second = await ask(
        app, project, "Which word was it?", engine=name, conversation=first.conversation
    )
    pack = await app.packs.get(second.pack or "")
    assert pack.resumed, pack.resume_why
    _, sent = await app.packs.sent(pack)
    news = await app.talk.message(between.answer or "")
    assert news.text.split("\n")[0] in sent
    assert "PELICAN" not in sent
    body = last_body(model)
    assert wire.find_text(body, "PELICAN"), "the engine's own session remembers"
    assert wire.find_text(body, "Which word was it?")
    assert second.identity == first.identity
    assert 0 < second.usage.total <= 3 * first.usage.total + 2_000
