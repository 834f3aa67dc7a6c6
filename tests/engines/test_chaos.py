"""Q9: every misbehaviour of an engine's process through every adapter ends as it should."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from engines import running
from engines.process import measured
from engines.process.fake_engine import BEHAVIOURS, Behaviour, install
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Status
from mufakat.ports.engine import Options

pytestmark = pytest.mark.anyio

MARGIN = 3
FAST_MEGABYTES = 4
GROWTH = 40 * 1024 * 1024
LAG = 0.05
NAMES = [behaviour.name for behaviour in BEHAVIOURS]
BY_NAME = {behaviour.name: behaviour for behaviour in BEHAVIOURS}


def test_q9_there_are_24_behaviours_and_4_adapters() -> None:
    assert (len(BEHAVIOURS), len(running.CLIS)) == (24, 4)


def fake(cli: str, behaviour: Behaviour, place: Path, megabytes: int) -> running.Bench:
    program = install(place, cli, behaviour=behaviour.name, dialect=cli, size=megabytes)
    return running.bench(cli, place, Options(command=str(program)))


def expected(behaviour: Behaviour) -> tuple[Status, Failure | None]:
    match behaviour.name:
        case "exit_137":
            return Status.FAILED, Failure.CRASHED
        case "drip":
            return Status.FAILED, Failure.DEADLINE
        case "silence" | "ignores_term":
            return Status.FAILED, Failure.IDLE
    if behaviour.results:
        return Status.DONE, None
    return Status.FAILED, Failure.NO_RESULT


async def check(cli: str, behaviour: Behaviour, place: Path, megabytes: int) -> measured.Probe:
    bench = fake(cli, behaviour, place, megabytes)
    probe = measured.Probe()
    sampling = asyncio.create_task(probe.sample())
    try:
        forever = behaviour.exit_code is None
        turn = await bench.turn(idle=1.2 if forever else 30, total=2 if forever else 60)
    finally:
        sampling.cancel()
    assert (turn.reply.status, turn.reply.failure) == expected(behaviour)
    if turn.reply.status is Status.DONE:
        assert turn.reply.text == behaviour.answer
        assert turn.reply.usage.fresh == 10 and turn.reply.usage.output == 5
    assert turn.left == [] and turn.reply.leftovers == ()
    return probe


@pytest.mark.parametrize("cli", running.CLIS)
@pytest.mark.parametrize("name", NAMES)
async def test_q9_the_terminal_state_is_right_and_nothing_is_left(
    cli: str, name: str, tmp_path: Path
) -> None:
    behaviour = BY_NAME[name]
    await check(cli, behaviour, tmp_path, min(behaviour.megabytes, FAST_MEGABYTES))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("cli", running.CLIS)
@pytest.mark.parametrize("name", [each.name for each in BEHAVIOURS if each.megabytes])
async def test_q9_memory_and_the_event_loop_stand_full_size(
    cli: str, name: str, tmp_path: Path
) -> None:
    behaviour = BY_NAME[name]
    probe = await check(cli, behaviour, tmp_path, behaviour.megabytes)
    assert probe.peak - probe.before <= GROWTH
    assert probe.p99 <= LAG * MARGIN


STOPPED_AT = ("silence", "ignores_term", "drip", "burst")


@pytest.mark.parametrize("cli", running.CLIS)
@pytest.mark.parametrize("name", STOPPED_AT)
async def test_q9_cancel_works_at_any_time(cli: str, name: str, tmp_path: Path) -> None:
    bench = fake(cli, BY_NAME[name], tmp_path, 0)
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.call_later(0.5, cancel.set)

    def early(events: list[stream.StreamEvent]) -> bool:
        return name == "burst" and len(events) > 20

    begun = loop.time()
    turn = await bench.turn(cancel=cancel, cancel_when=early)
    assert turn.reply.status is Status.CANCELLED
    assert turn.left == [] and turn.reply.leftovers == ()
    assert loop.time() - begun <= 0.5 + 6.5 * MARGIN


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_cancel_before_the_start_starts_nothing(cli: str, tmp_path: Path) -> None:
    bench = fake(cli, BY_NAME["reads_stdin"], tmp_path, 0)
    cancel = asyncio.Event()
    cancel.set()
    turn = await bench.turn(cancel=cancel)
    assert turn.reply.status is Status.CANCELLED and turn.events == []


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_program_that_is_not_there_is_missing(cli: str, tmp_path: Path) -> None:
    bench = running.bench(cli, tmp_path, Options(command=str(tmp_path / "nothing")))
    turn = await bench.turn()
    assert (turn.reply.status, turn.reply.failure) == (Status.FAILED, Failure.MISSING)
    assert "nstall" in turn.reply.message
    probe = await bench.engine.probe()
    assert not probe.available and probe.problem and probe.fix


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_program_that_cannot_run_is_missing(cli: str, tmp_path: Path) -> None:
    program = tmp_path / cli
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    turn = await running.bench(cli, tmp_path, Options(command=str(program))).turn()
    assert turn.reply.failure is Failure.MISSING
    assert "interpreter" in turn.reply.message
    probe = await running.bench(cli, tmp_path, Options(command=str(program))).engine.probe()
    assert not probe.available and "interpreter" in probe.problem


WIDENING = {
    "claude": ("--permission-mode", "acceptEdits"),
    "codex": ("-s", "workspace-write"),
    "gemini": ("--approval-mode=auto_edit",),
    "opencode": ("--agent", "build"),
}


@pytest.mark.parametrize("cli", running.CLIS)
async def test_arguments_that_take_the_place_of_the_role_are_refused(
    cli: str, tmp_path: Path
) -> None:
    options = Options(command="/bin/true", args=WIDENING[cli])
    turn = await running.bench(cli, tmp_path, options).turn()
    assert turn.reply.failure is Failure.REFUSED and "role" in turn.reply.message


async def test_a_login_that_cannot_be_given_back_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user" / ".gemini"
    user.mkdir(parents=True)
    (user / "oauth_creds.json").write_text("old")
    program = install(tmp_path, "gemini", behaviour="crlf", dialect="gemini", size=0)
    options = Options(command=str(program), env={"GEMINI_CLI_HOME": str(user.parent)})
    bench = running.bench("gemini", tmp_path, options)

    def full_disk(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def refreshed(_events: list[stream.StreamEvent]) -> bool:
        lent = bench.workspace / "gemini" / ".gemini" / "oauth_creds.json"
        lent.unlink()
        lent.write_text("new")
        monkeypatch.setattr(os, "fsync", full_disk)
        return False

    turn = await bench.turn(cancel_when=refreshed)
    assert turn.reply.status is Status.DONE
    assert (user / "oauth_creds.json").read_text() == "old"


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_folder_that_is_not_there_is_told(cli: str, tmp_path: Path) -> None:
    bench = fake(cli, BY_NAME["reads_stdin"], tmp_path, 0)
    turn = await bench.turn(cwd=tmp_path / "gone")
    assert turn.reply.status is Status.FAILED and "gone" in turn.reply.message
    assert turn.reply.failure is Failure.INTERNAL, "installing the engine would not help"


@pytest.mark.parametrize("cli", running.CLIS)
async def test_row_52_a_foreign_session_in_the_stream_is_not_kept(cli: str, tmp_path: Path) -> None:
    """The fake engine names one fixed session, which is not the one that was asked for."""
    session = "ses_" + "a" * 26 if cli == "opencode" else "8df2a63a-0000-4000-8000-000000000001"
    turn = await fake(cli, BY_NAME["crlf"], tmp_path, 0).turn(resume=session)
    assert turn.reply.session == "" and not turn.of(stream.SessionStarted)
