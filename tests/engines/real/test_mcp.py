"""An MCP server that is given with a run is there at once, and its tool's result is heard."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import running
from engines.real.conftest import Real
from equipment.model_server import server
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Status
from mufakat.ports.engine import McpServer

pytestmark = [pytest.mark.anyio, pytest.mark.clis]

TINY = Path(__file__).with_name("mcp_server.py")


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_tool_of_a_server_is_called_and_its_result_reaches_the_model(
    cli: str, real: Real, model: server.ModelServer, heard: Callable[[], str]
) -> None:
    model.set_script(
        {
            "turns": [{"tools": [{"name": "$mcp:whoami", "args": {"note": "n1"}}]}],
            "default": {"text": "It said so."},
        }
    )
    tiny = McpServer("tiny", (sys.executable, str(TINY)), env={"TINY_AGENT": f"{cli}@test"})
    turn = await real(cli).turn("Who are you?", mcp=(tiny,))
    assert turn.reply.status is Status.DONE, turn.reply
    assert f"TINY-RESULT agent={cli}@test note=n1" in heard()
    ended = [e for e in turn.of(stream.Tool) if e.status is stream.ToolStatus.OK]
    assert any("whoami" in e.name for e in ended)
    assert turn.left == []
