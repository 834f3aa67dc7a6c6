"""Text is only text: `@path` and `/command` in a prompt do nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engines import running
from engines.real.conftest import Real
from equipment import wire
from equipment.model_server import server
from mufakat.core.talk.turn import Status

pytestmark = [pytest.mark.anyio, pytest.mark.clis]

SECRET = "PELICAN"
EXPANDING = ("claude", "gemini")


@pytest.mark.parametrize("cli", EXPANDING)
async def test_trap_1_a_word_joiner_after_the_at_keeps_the_file_out(
    cli: str, real: Real, heard: Callable[[], str]
) -> None:
    text = f"Quoted: @{wire.WORD_JOINER}README.md, <x>@{wire.WORD_JOINER}README.md</x>"
    turn = await real(cli).turn(text)
    assert turn.reply.status is Status.DONE
    assert text in heard() and SECRET not in heard()


@pytest.mark.parametrize("cli", EXPANDING)
async def test_twin_without_the_joiner_the_file_is_read(
    cli: str, real: Real, heard: Callable[[], str]
) -> None:
    bench = real(cli)
    assert bench.engine.capabilities.expands_at
    await bench.turn("Quoted: @README.md")
    assert SECRET in heard()


@pytest.mark.parametrize("cli", [cli for cli in running.CLIS if cli not in EXPANDING])
async def test_the_others_do_not_expand_it(cli: str, real: Real, heard: Callable[[], str]) -> None:
    bench = real(cli)
    assert not bench.engine.capabilities.expands_at
    await bench.turn("Quoted: @README.md and @/etc/hostname")
    assert SECRET not in heard() and "@/etc/hostname" in heard()


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini"])
async def test_a_prompt_that_looks_like_a_command_reaches_the_model(
    cli: str, real: Real, model: server.ModelServer, heard: Callable[[], str]
) -> None:
    for text in ("/compact", "/clear and go on"):
        turn = await real(cli).turn(text)
        assert turn.reply.status is Status.DONE, turn.reply
        assert text in heard()
    assert len(model.requests) == 2


async def test_twin_without_the_line_break_claude_runs_it(
    real: Real, model: server.ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.engines.claude.command.prompt", lambda user: user)
    await real("claude").turn("/compact")
    assert model.requests == []
