"""A failing model server through the real CLIs: every fault gets its class, in bounded time."""

from __future__ import annotations

from typing import Any

import pytest

from engines import running
from engines.real.conftest import Real
from equipment.model_server import server
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Status

pytestmark = [pytest.mark.anyio, pytest.mark.clis]

HALF = {"text": "half of an answer that is cut", "chunk": 4}
FAULTS: dict[str, tuple[dict[str, Any], set[Failure]]] = {
    "429": ({"status": 429, "retry_after": 1}, {Failure.RATE_LIMIT}),
    "403": ({"status": 403}, {Failure.FORBIDDEN, Failure.LOGIN}),
    "500": ({"status": 500}, {Failure.OVERLOADED}),
    "malformed": ({**HALF, "fault": "malformed"}, {Failure.MALFORMED, Failure.NETWORK}),
    "truncate": ({**HALF, "fault": "truncate"}, {Failure.NETWORK}),
    "hang_mid": ({**HALF, "fault": "hang_mid", "seconds": 100}, {Failure.IDLE}),
}
LONG = {("opencode", fault) for fault in ("429", "500", "truncate", "hang_mid")} | {
    ("codex", "500")
}


def cases() -> list[Any]:
    return [
        pytest.param(cli, fault, marks=[pytest.mark.slow] if (cli, fault) in LONG else [])
        for cli in running.CLIS
        for fault in FAULTS
    ]


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("cli", "fault"), cases())
async def test_a_fault_gets_its_class(
    cli: str, fault: str, real: Real, model: server.ModelServer
) -> None:
    script, classes = FAULTS[fault]
    model.set_script({"default": script})
    # OpenCode says nothing while it tries again, more than a minute long.
    idle = 120 if fault != "hang_mid" else (15 if cli == "opencode" else 4)
    turn = await real(cli, retries=0).turn(idle=idle, total=150)
    assert turn.reply.status is Status.FAILED
    assert turn.reply.failure in classes, turn.reply
    assert turn.reply.message and "\x1b" not in turn.reply.message
    assert turn.left == []


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini"])
async def test_one_refusal_is_overcome_and_told(
    cli: str, real: Real, model: server.ModelServer
) -> None:
    model.set_script({"turns": [{"status": 429, "retry_after": 1}], "default": {"text": "Yes."}})
    turn = await real(cli, retries=1).turn()
    assert (turn.reply.status, turn.reply.text) == (Status.DONE, "Yes.")
    if cli != "gemini":
        assert any(e.level == "warning" for e in turn.of(stream.Notice))
