"""Sessions of the real CLIs: lost ones, cancelled ones, and three turns' worth of counters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from engines import running
from engines.real.conftest import Real
from equipment.model_server import server
from mufakat.core.talk.turn import Failure, Status
from mufakat.core.talk.usage import Usage

pytestmark = [pytest.mark.anyio, pytest.mark.clis]


@pytest.mark.parametrize("cli", running.CLIS)
async def test_case_059_a_session_that_is_gone_is_lost(
    cli: str, real: Real, model: server.ModelServer
) -> None:
    session = "ses_" + "0" * 26 if cli == "opencode" else "8df2a63a-0000-4000-8000-000000000001"
    turn = await real(cli).turn(resume=session)
    assert (turn.reply.status, turn.reply.failure) == (Status.FAILED, Failure.SESSION_LOST)
    assert model.requests == []


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini"])
async def test_a_cancelled_session_goes_on(
    cli: str, real: Real, model: server.ModelServer, heard: Callable[[], str]
) -> None:
    words = " ".join(f"w{n * 7919 % 10007}" for n in range(400))
    model.set_script({"turns": [{"text": words, "delay": 0.05}], "default": {"text": "Yes."}})
    bench, cancel = real(cli), asyncio.Event()

    async def stop() -> None:
        await asyncio.to_thread(model.wait_for, 1, 60)
        await asyncio.sleep(0.5)
        cancel.set()

    stopping = asyncio.create_task(stop())
    first = await bench.turn("MARK-FIRST", cancel=cancel)
    await stopping
    assert first.reply.status is Status.CANCELLED and first.reply.session
    again = await bench.turn("MARK-AGAIN", resume=first.reply.session)
    assert again.reply.status is Status.DONE, again.reply
    assert "MARK-FIRST" in heard() and "MARK-AGAIN" in heard()
    assert first.left == again.left == []


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini"])
async def test_case_099_three_turns_cost_three_turns(
    cli: str, real: Real, model: server.ModelServer
) -> None:
    usage = {"input": 1000, "cached": 400, "output": 20}
    model.set_script({"default": {"text": "Yes.", "usage": usage}})
    bench, session, total = real(cli), "", Usage()
    for number in range(3):
        reply = (await bench.turn(f"Turn {number}.", resume=session, running_total=total)).reply
        assert reply.status is Status.DONE, reply
        # Anthropic's input excludes the cache, the others' includes it.
        fresh = 1000 if cli == "claude" else 600
        spent = reply.usage
        assert (spent.fresh, spent.cache_read, spent.output) == (fresh, 400, 20)
        session, total = reply.session, reply.running_total or Usage()
    if bench.engine.capabilities.cumulative_usage:
        assert total.total == 3 * reply.usage.total


async def test_claude_keeps_its_system_text_over_a_resume(
    real: Real, heard: Callable[[], str]
) -> None:
    bench = real("claude")
    first = await bench.turn("One.", system="MARK-PACK")
    await bench.turn("Two.", system="MARK-PACK", resume=first.reply.session)
    assert heard().count("MARK-PACK") == 1
