"""The four real CLIs, run by their adapters with hooks: told, held, kept off, and never stuck."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines import running
from equipment import clis, hook_door, hook_server, wire
from equipment import room as rooms
from equipment.hook_door import Door
from equipment.model_server import server
from equipment.room import Room, acting
from mufakat.core.coordination.state import State
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Status
from mufakat.ports.engine import Access
from mufakat.sdk import hook

pytestmark = [pytest.mark.anyio, pytest.mark.clis, pytest.mark.timeout(240)]
CLIENT = (sys.executable, "-I", "-S", str(Path(hook.__file__)))
SHELL = "sleep 1; echo slept"


@pytest.fixture
def model() -> Iterator[server.ModelServer]:
    if reason := clis.skip_reason():
        pytest.skip(reason)
    with server.ModelServer({"default": {"text": "I have nothing to add."}}) as made:
        yield made


@dataclass
class Stage:
    """A CLI, the room that its hooks speak to, and the model behind it."""

    bench: running.Bench
    room: Room
    door: Door
    model: server.ModelServer
    who: str
    access: Access

    async def turn(self, **more: object) -> running.Turn:
        return await self.bench.turn(
            "Work.", permission=Permission.DEVELOP, access=self.access, **more
        )

    def heard(self, request: int) -> str:
        """Everything that the model was sent in one of its requests."""
        return wire.all_text(self.model.bodies()[request])

    async def asked(self, count: int) -> None:
        """Wait until the model has so many requests."""
        await asyncio.to_thread(self.model.wait_for, count, 60)


@pytest.fixture
async def stage(
    tmp_path: Path, model: server.ModelServer
) -> AsyncIterator[Callable[[str], object]]:
    async with rooms.opened(tmp_path) as room:
        with hook_door.serving(room) as door:

            async def make(cli: str) -> Stage:
                bench = running.real(cli, tmp_path, model)
                joined, token = await room.run(cli)
                access = Access(door.url, token, CLIENT, str(tmp_path / "mufakat-home"))
                return Stage(bench, room, door, model, joined.identity, access)

            yield make


@pytest.mark.parametrize("cli", running.CLIS)
async def test_an_agent_is_kept_off_told_in_mid_turn_held_and_let_go(
    cli: str, stage: Callable[[str], object]
) -> None:
    s: Stage = await stage(cli)  # type: ignore[misc]
    taken = s.bench.project / "taken.txt"
    other = await s.room.join("scripted", session="other")
    await s.room.lease(acting(other.identity), taken, reason="rewriting it")
    s.model.set_script(
        {
            "turns": [
                {"tools": [{"name": "$write", "args": {"file_path": str(taken), "content": "x"}}]},
                {"tools": [{"name": "$shell", "args": {"command": SHELL}}]},
                {"text": "I am done."},
                {"tools": [{"name": "$shell", "args": {"command": SHELL}}]},
            ],
            "default": {"text": "I have answered."},
        }
    )

    async def people() -> None:
        await s.asked(2)
        await s.room.send(s.who, "The colour is TEAL-7.")
        await s.asked(3)
        await s.room.send(s.who, "Which port does PELICAN use?", intent="request")
        await s.asked(4)
        await s.room.inbox.ack(acting(s.who), numbers=(2,))

    async with asyncio.timeout(150), asyncio.TaskGroup() as group:
        group.create_task(people())
        running_turn = group.create_task(s.turn())
    turn = running_turn.result()
    assert turn.reply.status is Status.DONE, turn.reply
    assert "I have answered." in turn.reply.text
    assert not taken.exists()
    assert other.identity in s.heard(1)
    assert "rewriting it" in s.heard(1)
    assert "TEAL-7" in s.heard(2), "delivered with the tool's result"
    assert "PELICAN" in s.heard(3), "held with the text of the request"
    assert 1 <= sum(bool(said) for moment, said in s.door.heard if moment == "stop") <= 3
    assert (await s.room.one(cli)).standing.state is State.IDLE
    assert turn.left == []


@pytest.mark.parametrize("cli", running.CLIS)
async def test_g3_a_request_that_is_never_answered_holds_three_times_and_no_more(
    cli: str, stage: Callable[[str], object]
) -> None:
    s: Stage = await stage(cli)  # type: ignore[misc]
    await s.room.send(s.who, "Answer me, PELICAN.", intent="request")
    turn = await s.turn()
    assert turn.reply.status is Status.DONE, turn.reply
    assert s.door.count("stop") == 4
    assert len(s.model.requests) == 4
    standing = (await s.room.one(cli)).standing
    assert (standing.state, standing.debt) == (State.IDLE, 1)
    assert [
        event.data.get("identity", event.subject) for event in await s.room.events("gate.gave_up")
    ]


@pytest.mark.parametrize("cli", running.CLIS)
async def test_g6_without_a_server_the_turn_goes_on(
    cli: str, model: server.ModelServer, tmp_path: Path
) -> None:
    bench = running.real(cli, tmp_path, model)
    home = tmp_path / "mufakat-home"
    access = Access("http://127.0.0.1:9", "mf_x", CLIENT, str(home))
    turn = await bench.turn("Work.", access=access)
    assert turn.reply.status is Status.DONE, turn.reply
    assert turn.reply.text == "I have nothing to add."
    lines = (home / "hooks" / "skipped.jsonl").read_text().split("\n")
    assert "stop" in {json.loads(line)["event"] for line in lines if line}


async def test_row_39_a_server_that_hangs_does_not_hang_the_turn(
    model: server.ModelServer, tmp_path: Path
) -> None:
    bench = running.real("codex", tmp_path, model)
    with hook_server.running() as silent:
        silent.silent = True
        access = Access(silent.url, "mf_x", CLIENT, str(tmp_path / "mufakat-home"))
        turn = await bench.turn("Work.", access=access)
    assert turn.reply.status is Status.DONE, turn.reply


HOSTILE = """
[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = "touch {place}"
[[hooks.SessionStart]]
[[hooks.SessionStart.hooks]]
type = "command"
command = "touch {place}"
"""


async def test_trusting_our_hooks_trusts_nobody_elses(
    model: server.ModelServer, tmp_path: Path
) -> None:
    """Codex trusts each hook of ours by its hash; those in files must stay untrusted."""
    bench = running.real("codex", tmp_path, model)
    ran = tmp_path / "ran"
    for folder in (bench.project / ".codex", tmp_path / "home" / ".codex"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(HOSTILE.format(place=ran))
        hooks = {"Stop": [{"hooks": [{"type": "command", "command": f"touch {ran}"}]}]}
        (folder / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    access = Access("http://127.0.0.1:9", "mf_x", CLIENT, str(tmp_path / "mufakat-home"))
    turn = await bench.turn("Work.", access=access, permission=Permission.DEVELOP)
    assert turn.reply.status is Status.DONE, turn.reply
    assert (tmp_path / "mufakat-home" / "hooks").exists()
    assert not ran.exists()
