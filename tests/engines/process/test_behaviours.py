"""Every misbehaviour of an engine ends in the right state, with nothing left of it."""

from __future__ import annotations

import asyncio
import hashlib
import stat
import subprocess
from pathlib import Path

import pytest

from engines.process import measured
from engines.process.fake_engine import (
    ANSWER,
    BEHAVIOURS,
    DIALECTS,
    MB,
    Behaviour,
    event,
    install,
)
from mufakat.engines.process import json_line
from mufakat.engines.process.command import Ended, Limits, Line

MARGIN = 3
FAST_MEGABYTES = 20
LIMITS = {
    "silence": (Limits(idle=0.7, total=30, grace=1), Ended.IDLE),
    "drip": (Limits(idle=5, total=1.3, grace=1), Ended.DEADLINE),
    "ignores_term": (Limits(idle=30, total=30, grace=1), Ended.CANCELLED),
}


async def check(behaviour: Behaviour, folder: Path, megabytes: int) -> measured.Measured:
    limits, ended = LIMITS.get(behaviour.name, (measured.GENEROUS, Ended.EXITED))
    cancel = asyncio.Event()

    async def on_line(_line: Line) -> None:
        if ended is Ended.CANCELLED:
            cancel.set()

    stdin = b"p" * MB if behaviour.name == "reads_stdin" else None
    command = measured.fake(folder, behaviour.name, size=megabytes, stdin=stdin)
    run = await measured.measure(command, limits=limits, cancel=cancel, on_line=on_line)
    outcome = run.outcome
    assert outcome.ended is ended
    if behaviour.exit_code is not None:
        assert outcome.exit_code == behaviour.exit_code
    assert outcome.leftovers == ()
    assert run.alive == []
    assert run.growth <= 40 * MB
    assert run.lag <= 0.05 * MARGIN
    assert outcome.why == ""
    assert stat.S_IMODE(outcome.spool.stat().st_mode) == 0o600
    events = [json_line.decode(line.text) for line in run.lines if not line.stderr]
    results = [
        event for event in events if isinstance(event, dict) and event.get("type") == "result"
    ]
    assert len(results) == behaviour.results
    if behaviour.results:
        texts = [
            event["text"]
            for event in events
            if isinstance(event, dict) and event.get("type") == "text"
        ]
        assert texts == [behaviour.answer]
    return run


@pytest.mark.anyio
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
async def test_q9_behaviour(behaviour: Behaviour, tmp_path: Path) -> None:
    size = FAST_MEGABYTES if behaviour.megabytes else 0
    run = await check(behaviour, tmp_path, size)
    if size:
        assert run.outcome.spool.stat().st_size >= size * MB * 0.95
    if behaviour.held:
        assert run.seconds >= measured.GENEROUS.drain


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.anyio
@pytest.mark.parametrize(
    "behaviour",
    [behaviour for behaviour in BEHAVIOURS if behaviour.megabytes],
    ids=lambda behaviour: behaviour.name,
)
async def test_q9_behaviour_at_full_size(behaviour: Behaviour, tmp_path: Path) -> None:
    await check(behaviour, tmp_path, behaviour.megabytes)


@pytest.mark.anyio
async def test_x4_a_line_above_the_cap_keeps_size_hash_and_head(tmp_path: Path) -> None:
    command = measured.fake(tmp_path, "huge_line", size=9)
    run = await measured.measure(command)
    [line] = [line for line in run.lines if line.oversize]
    raw = b'{"type":"noise","data":"' + b"x" * 9 * MB + b'"}'
    assert line.oversize is not None
    assert line.oversize.size == len(raw)
    assert line.oversize.sha256 == hashlib.sha256(raw).hexdigest()
    assert line.text == raw[:4096].decode()


@pytest.mark.anyio
async def test_stderr_comes_as_a_clean_tail_and_as_lines(tmp_path: Path) -> None:
    script = r"printf '\033[31mred\033[0m\033]0;title\007\rover\n' >&2; exit 4"
    run = await measured.measure(measured.command(tmp_path, "sh", "-c", script))
    assert run.outcome.exit_code == 4
    assert run.outcome.stderr_tail == "red\nover\n"
    assert [line.stderr for line in run.lines] == [True]
    assert b"\x1b[31mred" in run.outcome.spool.read_bytes()


def test_d12_twin_communicate_holds_all_of_the_output(tmp_path: Path) -> None:
    command = measured.fake(tmp_path, "huge_output", size=60)
    before = measured.resident()
    child = subprocess.Popen(command.argv, stdout=subprocess.PIPE)
    output, _ = child.communicate()
    assert len(output) > 50 * MB
    assert measured.resident() - before > 40 * MB


@pytest.mark.anyio
async def test_d12_twin_readline_fails_at_a_long_line(tmp_path: Path) -> None:
    command = measured.fake(tmp_path, "huge_line", size=1)
    child = await asyncio.create_subprocess_exec(
        *command.argv, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
    )
    assert child.stdout is not None
    try:
        await child.stdout.readline()
        with pytest.raises(ValueError, match="limit"):
            await child.stdout.readline()
    finally:
        child.kill()
        await child.communicate()


@pytest.mark.anyio
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_fake_can_stand_on_path_for_any_engine(tmp_path: Path, dialect: str) -> None:
    install(tmp_path, "agent", behaviour="crlf", dialect=dialect)
    command = measured.command(
        tmp_path, "agent", "-p", "--resume", "x", env={"PATH": f"{tmp_path}:/usr/bin:/bin"}
    )
    run = await measured.measure(command)
    kinds = ("hello", "text", "result")
    wanted = [event(dialect, kind, "" if kind == "hello" else ANSWER) for kind in kinds]
    assert [json_line.decode(line.text) for line in run.lines] == wanted


def test_all_twenty_four_are_there() -> None:
    assert len({behaviour.name for behaviour in BEHAVIOURS}) == 24
