"""The real CLIs go on in a copy of a session, and the session itself stays as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import running
from engines.real.conftest import Real
from equipment.model_server import server
from mufakat.core.talk.turn import Failure, Status

pytestmark = [pytest.mark.anyio, pytest.mark.clis]
FORKING = ("claude", "opencode")


def files(bench: running.Bench, session: str) -> dict[str, str]:
    """What lies on the disk of a session that keeps a file under its own name."""
    home = bench.home.parent / "home"
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(home).rglob(f"*{session}*.jsonl")
        if path.is_file()
    }


@pytest.mark.parametrize("cli", FORKING)
async def test_a_copy_goes_on_and_its_session_stays_as_it_was(
    cli: str, real: Real, heard: Callable[[], str]
) -> None:
    bench = real(cli)
    assert bench.engine.capabilities.fork
    first = await bench.turn("MARK-PARENT")
    before = files(bench, first.reply.session)
    assert before or cli != "claude"
    copy = await bench.turn("MARK-COPY", resume=first.reply.session, fork=True)
    assert copy.reply.status is Status.DONE, copy.reply
    assert copy.reply.session and copy.reply.session != first.reply.session
    assert "MARK-PARENT" in heard() and "MARK-COPY" in heard()
    assert files(bench, first.reply.session) == before
    again = await bench.turn("MARK-AGAIN", resume=copy.reply.session)
    assert again.reply.session == copy.reply.session
    assert "MARK-PARENT" in heard() and "MARK-COPY" in heard()
    parent = await bench.turn("MARK-ON", resume=first.reply.session)
    assert parent.reply.session == first.reply.session
    assert "MARK-PARENT" in heard() and "MARK-ON" in heard()
    assert "MARK-COPY" not in heard() and "MARK-AGAIN" not in heard()


async def test_twin_without_the_flag_the_session_itself_goes_on(
    real: Real, heard: Callable[[], str]
) -> None:
    bench = real("claude")
    first = await bench.turn("MARK-PARENT")
    before = files(bench, first.reply.session)
    await bench.turn("MARK-COPY", resume=first.reply.session)
    assert files(bench, first.reply.session) != before
    await bench.turn("MARK-ON", resume=first.reply.session)
    assert "MARK-COPY" in heard()


@pytest.mark.parametrize("cli", FORKING)
async def test_a_session_that_is_gone_is_not_copied(
    cli: str, real: Real, model: server.ModelServer
) -> None:
    session = "ses_" + "0" * 26 if cli == "opencode" else "8df2a63a-0000-4000-8000-000000000001"
    turn = await real(cli).turn(resume=session, fork=True)
    assert (turn.reply.status, turn.reply.failure) == (Status.FAILED, Failure.SESSION_LOST)
    assert model.requests == []


async def test_a_copy_counts_its_own_turn_alone(real: Real, model: server.ModelServer) -> None:
    usage = {"input": 1000, "cached": 400, "output": 20}
    model.set_script({"default": {"text": "Yes.", "usage": usage}})
    bench = real("claude")
    first = (await bench.turn("One.")).reply
    assert first.running_total is not None
    copy = await bench.turn(
        "Two.", resume=first.session, fork=True, running_total=first.running_total
    )
    spent = copy.reply.usage
    assert (spent.fresh, spent.cache_read, spent.output) == (1000, 400, 20)
