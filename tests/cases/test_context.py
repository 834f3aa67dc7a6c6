"""Compaction and loss of context: what the engine forgot is told again, and everybody sees it."""

from __future__ import annotations

from functools import partial

import pytest

from cases import fakes
from mufakat.cli.follow import Show
from mufakat.cli.session import Session as Terminal
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines.claude import events as claude
from mufakat.engines.opencode import command as opencode
from mufakat.ports.engine import Options, Run
from mufakat.sdk.events import Event
from mufakat.services import turn_record
from mufakat.services.request import Ask
from services.conftest import INLINE, SPLIT, House, Puppet, answers

pytestmark = pytest.mark.anyio

COMPACTED = (
    '{"type":"system","subtype":"compact_boundary",'
    '"compact_metadata":{"trigger":"auto","pre_tokens":155000,"post_tokens":21000}}'
)
FORMS = {"split": SPLIT, "inline": INLINE}


async def compacts(run: Run, on_event, cancel) -> Reply:
    """Answers; where the prompt asks for it, the engine compacts its session on the way."""
    if run.delivery.user.endswith("Compact."):
        await on_event(stream.Compacted(155_000, 21_000))
    return await answers(run, on_event, cancel)


async def third_turn(house: House, form: str) -> tuple[Puppet, str]:
    """Three turns, the second of which compacts; answers what the third was told."""
    puppet = Puppet("one", compacts, FORMS[form])
    house.seat(puppet)
    first = await house.ask("Use httpie sessions, never curl.", engine="one")
    await house.ask("Compact.", engine="one", conversation=first.conversation)
    await house.ask("Third.", engine="one", conversation=first.conversation)
    return puppet, puppet.runs[2].delivery.user


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "what",
    [
        pytest.param("<mufakat:platform", id="rules_of_the_house"),
        pytest.param("AGENTS.md", id="convention_files"),
        pytest.param("<mufakat:role", id="role"),
        pytest.param("Use httpie sessions, never curl.", id="how_we_work_here"),
    ],
)
async def test_case_001_what_a_compaction_lost_is_told_again(
    house: House, form: str, what: str
) -> None:
    (house.project / "AGENTS.md").write_text("# Rules\n\nMigrations run with `make migrate`.\n")
    puppet, told = await third_turn(house, form)
    assert puppet.runs[1].resume == puppet.runs[2].resume != ""
    assert what in told
    assert what not in puppet.runs[1].delivery.user


@pytest.mark.parametrize("form", FORMS)
async def test_case_001_twin_a_build_that_trusts_the_session_tells_nothing_again(
    house: House, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trusting(tx, job, heard, known) -> None:
        heard.compacted = False
        ends(tx, job, heard, known)

    ends = turn_record._end_session
    monkeypatch.setattr(turn_record, "forgotten", lambda session: session)
    monkeypatch.setattr(turn_record, "_end_session", trusting)
    _, told = await third_turn(house, form)
    assert told == "Third."


async def test_case_002_the_newest_work_is_told_again_word_for_word(house: House) -> None:
    puppet = Puppet("one", compacts, INLINE)
    house.seat(puppet)
    conversation = ""
    for number in range(12):
        prompt = f"Step {number}: rename file_{number}.py and run its tests."
        turn = await house.ask(prompt, engine="one", conversation=conversation)
        conversation = turn.conversation
    await house.ask("Compact.", engine="one", conversation=conversation)
    await house.ask("Go on.", engine="one", conversation=conversation)
    told = puppet.runs[-1].delivery.user
    assert all(f"rename file_{number}.py" in told for number in range(12))
    assert told.index("file_10.py") < told.index("file_11.py") < told.index("Go on.")


async def test_case_004_it_is_told_again_once_and_not_with_every_turn(house: House) -> None:
    puppet, _ = await third_turn(house, "split")
    conversation = (await house.app.talk.conversations(limit=1))[0].id
    await house.ask("Fourth.", engine="one", conversation=conversation)
    assert puppet.runs[3].resume == puppet.runs[2].resume
    assert puppet.runs[3].delivery.user == "Fourth."


async def too_long(house: House) -> Puppet:
    """A session that has outgrown its model's window, and the turn after that."""

    async def overflows(run: Run, on_event, cancel) -> Reply:
        if run.resume:
            reply = await answers(run, on_event, cancel)
            failed = Failure.TOO_LONG
            return Reply(Status.FAILED, session=reply.session, failure=failed, message="too long")
        return await answers(run, on_event, cancel)

    puppet = Puppet("one", overflows, INLINE)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    second = await house.ask("Second.", engine="one", conversation=first.conversation)
    assert (second.status, second.failure) == (Status.FAILED, Failure.TOO_LONG)
    again = await house.app.turns.retry(second.id)
    await house.app.turns.wait(again.id, seconds=20)
    return puppet


async def test_case_005_a_session_that_outgrew_its_window_is_left_for_a_fresh_one(
    house: House,
) -> None:
    puppet = await too_long(house)
    assert [bool(run.resume) for run in puppet.runs] == [False, True, False]
    assert "First." in puppet.runs[2].delivery.user
    assert len(puppet.runs[2].delivery.user) <= 60_000


async def test_case_005_twin_a_build_that_keeps_the_session_fails_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.services.runner.USELESS", frozenset({Failure.SESSION_LOST}))
    puppet = await too_long(house)
    assert [bool(run.resume) for run in puppet.runs] == [False, True, True]


async def test_case_013_a_resumed_turn_brings_the_rules_in_the_system_slot(house: House) -> None:
    puppet = Puppet("one", answers, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    await house.ask("Second.", engine="one", conversation=first.conversation)
    assert "<mufakat:platform" in puppet.runs[1].delivery.system
    assert puppet.runs[1].delivery.system == puppet.runs[0].delivery.system


def test_case_018_opencode_may_not_compact_in_a_loop(tmp_path) -> None:
    run = Run("r", None, tmp_path, opencode.Permission.READ, tmp_path)  # type: ignore[arg-type]
    for config in ({}, {"compaction": {"auto": True}}):
        settings = opencode.settings(run, Options(config=config), ())
        assert settings["compaction"] == {"auto": False}


async def test_case_020_a_compaction_is_an_event_with_its_sizes(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.seat(Puppet("one", fakes.replays(partial(claude.Claude, ""), [COMPACTED]), SPLIT))
    turn = await house.ask("Go.", engine="one")
    (logged,) = await fakes.events(house, "turn.compacted")
    assert (logged.data["before"], logged.data["after"]) == (155_000, 21_000)
    assert logged.data["conversation"] == turn.conversation
    show = Show(Terminal(json_option=False))
    show.event(Event("e-1", "turn.compacted", turn.id, data=dict(logged.data)))
    shown = capsys.readouterr().err
    assert "shortened its own memory" in shown
    assert "155,000 to 21,000 tokens" in shown


async def test_case_020_a_compaction_before_the_session_is_named_is_kept_too(house: House) -> None:
    async def early(run: Run, on_event, cancel) -> Reply:
        if run.resume:
            await on_event(stream.Compacted())
        return await answers(run, on_event, cancel)

    puppet = Puppet("one", early, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    await house.ask("Second.", engine="one", conversation=first.conversation)
    ask = Ask("Third.", str(house.project), first.conversation, engine="one")
    assert "First." in (await house.app.turns.preview(ask)).user
