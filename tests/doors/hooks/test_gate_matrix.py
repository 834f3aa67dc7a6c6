"""However many messages there are and whatever comes between the stops, a turn ends."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from equipment import hook_door, hook_server
from equipment.room import Room
from mufakat.core.coordination import gate
from mufakat.core.coordination.inbox import OPEN
from mufakat.core.coordination.state import State
from mufakat.sdk import hook_command

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]
ENGINES = ("claude", "codex", "gemini", "opencode")
KINDS: dict[str, dict[str, Any]] = {
    "inform": {"intent": "inform"},
    "requires_ack": {"intent": "request"},
    "urgent": {"intent": "inform", "priority": 3},
}


def asked(engine: str, turn: str) -> dict[str, Any]:
    own = {"claude": {"prompt_id": turn}, "gemini": {}}.get(engine, {"turn_id": turn})
    return {"session_id": turn, "prompt": "go on", **own}


def reason(answer: dict[str, Any]) -> str:
    return str(answer.get("block") or answer.get("reason") or "")


async def stopped(room: Room, engine: str, turn: str, who: str, *, between: bool) -> list[str]:
    """Stop until the engine may; a client that is never let go fails."""
    reasons: list[str] = []
    for stop in range(10):
        held = reason(
            await room.fire(engine, "stop", stop_hook_active=stop > 0, **asked(engine, turn))
        )
        if not held:
            return reasons
        assert len(held.encode()) <= gate.REASON_BYTES
        reasons.append(held)
        if engine == "gemini":
            await room.fire(engine, "prompt", session_id=turn, prompt=held)
        if between:
            await room.send(who, f"between {stop}")
    raise AssertionError("held for ever")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [0, 1, 3, 50])
async def test_q11_every_turn_ends(room: Room, engine: str, count: int) -> None:
    for kind, between in itertools.product(KINDS, (False, True)):
        turn = f"{kind}-{between}"
        await room.fire(engine, "session-start", session_id=turn)
        (who,) = (one.identity for one in await room.everybody() if one.binding.session == turn)
        await room.fire(engine, "prompt", **asked(engine, turn))
        for number in range(count):
            await room.send(who, f"message {number}", **KINDS[kind])
        reasons = await stopped(room, engine, turn, who, between=between)
        assert len(reasons) <= gate.BLOCKS
        assert bool(reasons) is (count > 0)
        letters = await room.letters(who)
        open_ones = [one for one in letters if one.delivery.status in OPEN]
        if kind == "requires_ack":
            assert len(open_ones) >= count
        elif not between and count <= 3:
            assert open_ones == []
        (one,) = (one for one in await room.everybody() if one.identity == who)
        assert one.standing.state is State.IDLE


@pytest.mark.parametrize("engine", ENGINES)
async def test_q11_without_a_server_nobody_is_held(room: Room, engine: str, tmp_path: Path) -> None:
    """The same stop through the real client: held while the server answers, let go when not."""
    await room.fire(engine, "session-start", session_id="s")
    await room.send((await room.one(engine)).identity, "PELICAN", intent="request")
    home = tmp_path / "home"
    data = json.dumps({"cwd": str(room.project), **asked(engine, "s")}).encode()

    def stop() -> bytes:
        done = subprocess.run(
            [*hook_command.words(), engine, "stop", str(home)],
            input=data,
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            check=True,
        )
        return done.stdout

    with hook_door.serving(room) as door:
        door.settle(home)
        assert "PELICAN" in reason(json.loads(await asyncio.to_thread(stop)))
    assert await asyncio.to_thread(stop) == b""
    with hook_server.running() as silent:
        silent.settle(home)
        silent.silent = True
        assert await asyncio.to_thread(stop) == b""
    with hook_door.serving(room) as door:
        door.settle(home)
        assert "PELICAN" in reason(json.loads(await asyncio.to_thread(stop)))
    (event,) = await room.events("gate.skipped")
    assert event.data["count"] == 2
