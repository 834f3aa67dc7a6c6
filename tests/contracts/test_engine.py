"""One suite for every engine: what the product relies on, whoever runs the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engines import running
from equipment import clis, wire
from equipment.model_server import server
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.engine import Options

pytestmark = pytest.mark.anyio

ANSWER = "Hello from the scripted model."
SLOW = {"default": {"text": " ".join(f"w{n * 7919 % 10007}" for n in range(400)), "delay": 0.05}}
MARGIN = 3
ENGINES = [
    "scripted",
    "openai_compat",
    *(pytest.param(name, marks=pytest.mark.clis) for name in running.CLIS),
]


@dataclass
class Subject:
    """An engine with the model that answers it; the scripted one is its own model."""

    name: str
    bench: running.Bench
    model: server.ModelServer

    @property
    def is_scripted(self) -> bool:
        return self.name == "scripted"

    def script(self, **data: Any) -> None:
        self.model.set_script({"aux": self.name != "openai_compat" and None, **data})

    def answers(self, text: str = ANSWER) -> None:
        self.script(default={"text": text, "usage": {"input": 1000, "output": 20}})

    def heard(self) -> str:
        """Everything the model was sent in its last request."""
        return wire.without_joiners(wire.all_text(self.model.bodies()[-1]))


@pytest.fixture
def subject(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Subject]:
    name: str = request.param
    with server.ModelServer({"default": {"text": ANSWER}}) as model:
        match name:
            case "scripted":
                bench = running.bench(name, tmp_path, Options())
            case "openai_compat":
                options = Options(base_url=f"{model.base}/v1", model="m")
                bench = running.bench(name, tmp_path, options)
            case _:
                if reason := clis.skip_reason():
                    pytest.skip(reason)
                bench = running.real(name, tmp_path, model, retries=0)
        made = Subject(name, bench, model)
        made.answers()
        yield made


every = pytest.mark.parametrize("subject", ENGINES, indirect=True)
with_model = pytest.mark.parametrize("subject", ENGINES[1:], indirect=True)


@every
async def test_it_answers(subject: Subject) -> None:
    turn = await subject.bench.turn("MARK-USER what is this?", system="MARK-SYSTEM the pack")
    reply = turn.reply
    assert (reply.status, reply.failure, reply.message) == (Status.DONE, None, "")
    assert turn.streamed == reply.text
    assert bool(reply.session) is subject.bench.engine.capabilities.resume
    assert [e.session for e in turn.of(stream.SessionStarted)] == [reply.session] * bool(
        reply.session
    )
    assert turn.left == [] and reply.leftovers == ()
    if subject.is_scripted:
        assert "demo engine" in reply.text
        return
    assert reply.text == ANSWER
    assert "MARK-USER what is this?" in subject.heard()
    assert "MARK-SYSTEM the pack" in subject.heard()
    assert (reply.usage.fresh, reply.usage.output) == (1000, 20)
    assert not turn.of(stream.Unknown)


@every
async def test_rows_48_49_an_awkward_prompt_arrives_whole(subject: Subject) -> None:
    """It starts with a dash, is 200 KB long and full of letters from everywhere."""
    long = "--help -p /compact\n" + "naïve 汉字 한국어 😀 👩‍👩‍👧 \u2028 “x” $(id) `id` " * 3000
    text = long + "THE END"
    assert len(text.encode()) > 200_000
    turn = await subject.bench.turn(text)
    assert turn.reply.status is Status.DONE, turn.reply
    if not subject.is_scripted:
        assert text in subject.heard()


@every
async def test_a_cancel_ends_it_at_any_time_and_keeps_what_was_said(subject: Subject) -> None:
    subject.script(**SLOW)
    model = "slow:3000" if subject.is_scripted else subject.bench.model
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()

    def heard(events: list[stream.StreamEvent]) -> bool:
        return sum(isinstance(event, stream.Text) for event in events) >= 3

    async def when_asked() -> None:
        """Codex and OpenCode stream whole messages only: stop once the model is at it."""
        if subject.name in ("codex", "opencode"):
            await asyncio.to_thread(subject.model.wait_for, 1, 60)
            await asyncio.sleep(0.3)
            cancel.set()

    watching = asyncio.create_task(when_asked())
    stopped_at: list[float] = []
    noting = asyncio.create_task(cancel.wait())
    noting.add_done_callback(lambda _: stopped_at.append(loop.time()))
    if subject.is_scripted:
        loop.call_later(0.3, cancel.set)
    turn = await subject.bench.turn("Count.", cancel=cancel, cancel_when=heard, model=model)
    ended_at = loop.time()
    noting.cancel()
    await asyncio.wait({watching, noting})
    assert turn.reply.status is Status.CANCELLED
    assert ended_at - stopped_at[0] <= 6.5 * MARGIN
    assert turn.left == [] and turn.reply.leftovers == ()
    assert turn.streamed == turn.reply.text
    if subject.name in ("openai_compat", "claude", "gemini"):
        assert turn.reply.text


@every
async def test_a_deadline_ends_it(subject: Subject) -> None:
    subject.script(default={"fault": "hang", "seconds": 120})
    model = "slow:3000" if subject.is_scripted else subject.bench.model
    turn = await subject.bench.turn(total=3, idle=60, model=model)
    assert (turn.reply.status, turn.reply.failure) == (Status.FAILED, Failure.DEADLINE)
    assert turn.left == [] and turn.reply.leftovers == ()


@every
async def test_silence_ends_it(subject: Subject) -> None:
    subject.script(default={"fault": "hang", "seconds": 120})
    model = "slow:3000" if subject.is_scripted else subject.bench.model
    turn = await subject.bench.turn(total=60, idle=2, model=model)
    assert (turn.reply.status, turn.reply.failure) == (Status.FAILED, Failure.IDLE)
    assert turn.left == [] and turn.reply.leftovers == ()


@with_model
@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        ({"status": 401}, Failure.LOGIN),
        ({"status": 400, "message": "prompt is too long: 9 > 8 maximum"}, Failure.TOO_LONG),
        ({"fault": "empty"}, Failure.EMPTY),
    ],
    ids=["login", "too_long", "empty"],
)
async def test_a_failure_has_its_class(
    subject: Subject, fault: dict[str, Any], failure: Failure
) -> None:
    subject.script(default=fault)
    turn = await subject.bench.turn()
    assert (turn.reply.status, turn.reply.failure) == (Status.FAILED, failure), turn.reply
    assert turn.reply.message
    assert turn.left == []


@every
async def test_a_session_goes_on_and_each_turn_counts_its_own_tokens(subject: Subject) -> None:
    if not subject.bench.engine.capabilities.resume:
        turn = await subject.bench.turn("Two.", resume="8df2a63a-0000-4000-8000-000000000001")
        assert turn.reply.status is Status.DONE
        return
    system = "MARK-SYSTEM"
    first = (await subject.bench.turn("MARK-ONE", system=system)).reply
    assert first.status is Status.DONE, first
    again = (
        await subject.bench.turn(
            "MARK-TWO",
            system=system if subject.bench.engine.capabilities.splits_system else "",
            resume=first.session,
            running_total=first.running_total or Usage(),
        )
    ).reply
    assert again.status is Status.DONE, again
    assert again.session == first.session
    if subject.is_scripted:
        return
    assert "MARK-ONE" in subject.heard() and "MARK-TWO" in subject.heard()
    assert (again.usage.fresh, again.usage.output) == (1000, 20)
    if first.usage.cost is not None and again.usage.cost is not None:
        assert again.usage.cost == pytest.approx(first.usage.cost)


@every
async def test_the_probe_says_what_it_is(subject: Subject) -> None:
    probe = await subject.bench.engine.probe()
    assert probe.name == subject.name and probe.available and not probe.problem
    assert probe.login in ("ok", "unknown", "not needed")
    if subject.name in running.CLIS:
        assert probe.version and Path(probe.path).is_absolute()
