"""Streams, sizes and encodings: what goes in comes out, whatever it is and wherever it runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from cases import fakes
from mufakat.core.base import InvalidInput
from mufakat.core.talk import message
from mufakat.core.talk.stream import Tool, ToolStatus
from mufakat.core.talk.turn import ADVICE, Failure, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.engines.claude import events as claude
from mufakat.engines.cli import one_shot
from mufakat.engines.process import command, stream
from mufakat.services import turn_record
from services.conftest import INLINE, SPLIT, House, Puppet

pytestmark = pytest.mark.anyio

CLIS = ("claude", "codex", "gemini", "opencode")
MIB = 1024 * 1024
UNICODE = "naïve 汉字 😀 👨‍👩‍👧 ‘curly’ €\u2028still the same line\x85too"
FUTURE = [
    '{"type":"system","subtype":"hook_success","hook":"x"}',
    '{"type":"from.the.future","detail":"kept"}',
    '{"type":"stream_event","event":{"type":"new_kind"}}',
]


async def answer_of(house: House, prompt: str, cli: str, **more: object) -> str:
    """The stored answer to a prompt."""
    turn = await house.ask(prompt, engine=cli, **more)
    assert turn.status is Status.DONE, turn.message
    return (await house.app.talk.message(turn.answer)).text


async def test_case_079_what_a_version_does_not_know_is_in_the_log_with_its_words(
    house: House,
) -> None:
    house.seat(Puppet("one", fakes.replays(partial(claude.Claude, ""), FUTURE), SPLIT))
    turn = await house.ask("Go.", engine="one")
    assert turn.status is Status.DONE
    logged = await fakes.events(house, "turn.unknown")
    assert [event.data["type"] for event in logged] == [
        "system/hook_success",
        "from.the.future",
        "stream_event/new_kind",
    ]
    assert '"detail": "kept"' in logged[1].data["raw"]


async def test_case_079_a_huge_unknown_event_does_not_fill_the_log(house: House) -> None:
    huge = '{"type":"' + "t" * MIB + '","x":"' + "x" * MIB + '"}'
    house.seat(Puppet("one", fakes.replays(partial(claude.Claude, ""), [huge]), SPLIT))
    await house.ask("Go.", engine="one")
    (logged,) = await fakes.events(house, "turn.unknown")
    assert len(str(logged.data)) < 10_000


@pytest.mark.parametrize("failure", Failure)
async def test_case_080_a_failure_is_told_and_nothing_is_tried_again_by_itself(
    house: House, failure: Failure
) -> None:
    async def exits(run, on_event, cancel) -> Reply:
        return Reply(Status.FAILED, failure=failure, message="exit 1")

    puppet = Puppet("one", exits, INLINE)
    house.seat(puppet)
    turn = await house.ask("Go.", engine="one")
    assert (turn.status, turn.failure) == (Status.FAILED, failure)
    await house.app.turns.recover()
    assert len(puppet.runs) == 1
    (ended,) = await fakes.events(house, "turn.ended")
    assert ended.data["retryable"] is ADVICE[failure].retryable


@pytest.mark.parametrize("cli", CLIS)
async def test_case_080_an_engine_that_exits_at_once_is_started_once(
    house: House, cli: str, tmp_path: Path
) -> None:
    log = tmp_path / "starts"
    program = tmp_path / cli
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *--version*|*--help*) echo 9.9.9; exit;; esac\n'
        f"echo start >>{log}\necho 'missing field message.role' >&2\nexit 1\n"
    )
    program.chmod(0o755)
    fakes.seat_program(house, cli, program)
    turn = await house.ask("Go.", engine=cli)
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.CRASHED)
    assert "message.role" in turn.message
    assert log.read_text().splitlines() == ["start"]


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("size", [70_000, 200_000], ids=["over_64_kib", "over_128_kib"])
async def test_case_081_a_long_prompt_and_a_long_line_arrive_whole(
    house: House, cli: str, size: int, tmp_path: Path
) -> None:
    fakes.seat_echo(house, cli, folder=tmp_path)
    prompt = "begin " + "x" * size + " end"
    assert await answer_of(house, prompt, cli, budget=2_000_000) == prompt


@pytest.mark.parametrize("size", [MIB + 1, 7 * MIB])
async def test_case_082_a_line_of_megabytes_is_one_event(size: int) -> None:
    lines = stream.Lines(command.Limits(idle=1, total=1).line)
    text = "x" * size
    event = b'{"type":"result","subtype":"success","result":"' + text.encode() + b'"}\n'
    chunks = [event[at : at + stream.CHUNK] for at in range(0, len(event), stream.CHUNK)]
    (line,) = [line for chunk in chunks for line in lines.feed(chunk)]
    assert line.oversize is None
    parser = claude.Claude("")
    list(one_shot.events_of(parser, line))
    assert parser.said(0).text == text


async def test_case_082_twin_a_reader_with_a_limit_of_64_kib_would_not_hold_it() -> None:
    lines = stream.Lines(64 * 1024)
    (line,) = lines.feed(b"x" * MIB + b"\n")
    assert line.oversize is not None


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("locale", ["C.UTF-8", "C", "en_US.ISO-8859-1", "ja_JP.SJIS"])
async def test_case_087_any_text_survives_any_locale(
    house: House, cli: str, locale: str, tmp_path: Path
) -> None:
    fakes.seat_echo(house, cli, folder=tmp_path, locale=locale)
    assert await answer_of(house, UNICODE, cli) == UNICODE


NOT_STORABLE = "zero \0 lone \ud800 end"


async def claims(house: House, reply: Reply) -> object:
    """A turn whose engine (one that is no part of the package) replies so."""

    async def engine(run, on_event, cancel) -> Reply:
        return reply

    house.seat(Puppet("foreign", engine, INLINE))
    return await house.ask("Go.", engine="foreign")


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(Status.DONE, text=NOT_STORABLE), id="text"),
        pytest.param(Reply(Status.DONE, text="x", usage=Usage(fresh=2**70, output=-1)), id="count"),
        pytest.param(Reply(Status.DONE, text="x", usage=Usage(cost=float("inf"))), id="cost"),
        pytest.param(
            Reply(
                Status.FAILED,
                failure=Failure.RATE_LIMIT,
                message=NOT_STORABLE,
                retry_after=float("inf"),
            ),
            id="failure",
        ),
    ],
)
async def test_case_089_no_claim_of_an_engine_leaves_its_turn_running(
    house: House, reply: Reply
) -> None:
    turn = await claims(house, reply)
    assert turn.status is reply.status
    if reply.text == NOT_STORABLE:
        said = await house.app.talk.message(turn.answer)
        assert said.text == "zero \u2400 lone ? end"
    assert turn.usage.fresh <= 2**53
    assert turn.usage.cost is None
    (ended,) = await fakes.events(house, "turn.ended")
    assert ended.data["retry_after"] is None


async def test_case_089_twin_a_build_that_stores_what_it_is_told_loses_the_answer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_record, "_storable", lambda reply: reply)
    turn = await claims(house, Reply(Status.DONE, text=NOT_STORABLE))
    assert turn.answer is None
    # Even then the turn is over, and says that the fault is ours.
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.INTERNAL)


async def test_case_089_an_end_that_cannot_be_stored_still_ends_the_turn(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(kind, speaker, *, text: str, **more: object):
        if text == "odd":
            raise InvalidInput("A value cannot be stored.")
        return draft(kind, speaker, text=text, **more)

    draft = message.draft
    monkeypatch.setattr(message, "draft", refuses)
    turn = await claims(house, Reply(Status.DONE, text="odd"))
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.INTERNAL)


async def test_case_079_no_name_of_an_engine_fills_the_log(house: House) -> None:
    async def boasts(run, on_event, cancel) -> Reply:
        await on_event(Tool("t" * MIB, "n" * MIB, ToolStatus.RUNNING, "i" * MIB, "o" * MIB))
        return Reply(Status.DONE, text="x")

    house.seat(Puppet("one", boasts, INLINE))
    await house.ask("Go.", engine="one")
    (logged,) = await fakes.events(house, "turn.tool")
    assert len(str(logged.data)) < 10_000


async def test_a_cut_leaves_no_half_of_a_secret_in_the_log(house: House) -> None:
    token = "ghp_" + "aB3" * 12

    async def prints(run, on_event, cancel) -> Reply:
        padding = "x " * 990
        output = f"{padding}{token} and more"
        await on_event(Tool("t", "Bash", ToolStatus.OK, output=output))
        return Reply(Status.DONE, text="x")

    house.seat(Puppet("one", prints, INLINE))
    await house.ask("Go.", engine="one")
    (logged,) = await fakes.events(house, "turn.tool")
    assert len(logged.data["output"]) <= 2_000
    assert token[:12] not in logged.data["output"]
