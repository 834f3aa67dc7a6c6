"""A model server instead of a CLI: the same items arrive, a small window gets the lite variant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from equipment import wire
from equipment.model_server import server
from mufakat import app as application
from mufakat.app import App
from mufakat.core.talk.turn import Failure, Status
from mufakat.services.request import Ask
from mufakat.settings import EngineSettings, Settings

pytestmark = pytest.mark.anyio
# Requests without tools would else be taken for side requests.
ANSWERS = {"aux": False, "default": {"text": "Answer number {{N}}."}}


@pytest.fixture
async def app(tmp_path: Path, model: server.ModelServer) -> AsyncIterator[App]:
    model.set_script(ANSWERS)
    engine = EngineSettings(base_url=f"{model.base}/v1", model="local", window_tokens=4_096)
    settings = Settings(home=tmp_path / "home", engines={"openai_compat": engine})
    built = await application.build(settings)
    yield built
    await built.close()


async def test_the_pack_arrives_and_the_variant_is_named(
    app: App, project: Path, model: server.ModelServer
) -> None:
    queued = await app.turns.ask(Ask("What is this?", str(project), engine="openai_compat"))
    turn = await app.turns.wait(queued.id, seconds=30)
    assert turn.status is Status.DONE, turn.message
    pack = await app.packs.get(turn.pack or "")
    assert (pack.receipt.variant, pack.receipt.budget) == ("lite", 6_144)
    for kind, text in await app.packs.texts(pack):
        assert wire.find_text(model.requests[-1].body, text), kind
    demo = await app.turns.ask(Ask("What is this?", str(project), engine="scripted"))
    other = await app.packs.get((await app.turns.wait(demo.id, seconds=30)).pack or "")
    assert other.receipt.parity == pack.receipt.parity


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ({"status": 401}, Failure.LOGIN),
        ({"status": 429, "retry_after": 7}, Failure.RATE_LIMIT),
        ({"status": 500}, Failure.OVERLOADED),
        ({"fault": "reset"}, Failure.NETWORK),
        ({"fault": "empty"}, Failure.EMPTY),
    ],
)
async def test_a_failing_server_is_a_failed_turn_with_advice(
    app: App, project: Path, model: server.ModelServer, script: dict, failure: Failure
) -> None:
    model.set_script({"aux": False, "turns": [script]})
    queued = await app.turns.ask(Ask("Hi.", str(project), engine="openai_compat"))
    turn = await app.turns.wait(queued.id, seconds=30)
    assert (turn.status, turn.failure) == (Status.FAILED, failure)
    ended = (await app.feed.after(0, limit=500, kinds=("turn.ended",)))[-1].data
    assert ended["fix"]
    if "retry_after" in script:
        assert ended["retry_after"] == script["retry_after"]
    model.set_script(ANSWERS)
    again = await app.turns.retry(turn.id)
    assert (await app.turns.wait(again.id, seconds=30)).status is Status.DONE
