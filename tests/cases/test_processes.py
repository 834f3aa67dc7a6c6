"""Processes: whatever an engine leaves behind is gone with its turn, and nothing respawns."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cases import fakes
from engines.process.fake_engine import BEHAVIOURS, WHOLE
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines.claude import command as claude
from mufakat.engines.process import stop
from mufakat.services.request import Ask
from mufakat.services.runner import Limits
from services.conftest import INLINE, House, Puppet

pytestmark = pytest.mark.anyio

CLIS = ("claude", "codex", "gemini", "opencode")
ESCAPES = [behaviour.name for behaviour in BEHAVIOURS if behaviour.survivors]
MARGIN = 3
CANCEL_SECONDS = 6.5


async def start(house: House, cli: str, *, until: str = "turn.running") -> str:
    """Ask, and wait until the turn has come so far; answers the turn, which marks its processes."""
    turn = await house.app.turns.ask(Ask("Go.", str(house.project), engine=cli))
    for _ in range(600):
        if await fakes.events(house, until) and fakes.alive(turn.id):
            return turn.id
        await asyncio.sleep(0.05)
    raise AssertionError("the engine did not start")


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("behaviour", ESCAPES)
async def test_case_063_what_escapes_its_group_ends_with_the_turn(
    house: House, cli: str, behaviour: str, tmp_path: Path
) -> None:
    fakes.seat_behaviour(house, cli, behaviour, folder=tmp_path)
    turn = await house.ask("Go.", engine=cli)
    assert turn.status is Status.DONE
    assert fakes.alive(turn.id) == []
    (ended,) = await fakes.events(house, "turn.ended")
    assert ended.data["leftovers"] == []


async def test_case_063_twin_a_build_that_ends_the_group_alone_leaves_orphans(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def group_only(tree, first, *, grace) -> tuple[int, ...]:
        tree.signal_group(first)
        return ()

    with monkeypatch.context() as faulty:
        faulty.setattr(stop, "end", group_only)
        fakes.seat_behaviour(house, "claude", "setsid_grandchild", folder=tmp_path)
        turn = await house.ask("Go.", engine="claude")
    left = fakes.alive(turn.id)
    fakes.kill(left)
    assert left != []


async def test_case_064_an_agent_gets_no_tool_that_starts_agents() -> None:
    for level in claude.Permission:
        flags = claude.permission(level, (), frozenset({"--tools"}))
        offered = flags[flags.index("--tools") + 1].split(",")
        denied = flags[flags.index("--disallowedTools") + 1].split(",")
        assert "Task" not in offered
        assert "Task" in denied


async def appears(path: Path) -> None:
    """Wait until a program has made a file."""
    for _ in range(600):
        if path.exists():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{path.name} did not appear")


@pytest.mark.parametrize("cli", CLIS)
async def test_case_067_a_cancel_ends_the_whole_tree(
    house: House, cli: str, tmp_path: Path
) -> None:
    fakes.seat_behaviour(house, cli, "whole_tree", folder=tmp_path)
    id = await start(house, cli)
    # A count alone cannot tell: the process that is only there to fork once more counts for three.
    await appears(house.project / WHOLE)
    assert len(fakes.alive(id)) == 3
    loop = asyncio.get_running_loop()
    before = loop.time()
    ended = await house.app.turns.cancel(id)
    assert loop.time() - before <= CANCEL_SECONDS * MARGIN
    # The tree told its answer before it hung, so an adapter may keep that.
    assert ended.status in {Status.CANCELLED, Status.DONE}
    assert fakes.alive(id) == []


async def test_case_068_a_turn_that_is_over_has_no_worker(house: House, tmp_path: Path) -> None:
    fakes.seat_behaviour(house, "claude", "ignores_term", folder=tmp_path)
    id = await start(house, "claude")
    ended = await house.app.turns.cancel(id)
    assert ended.status is Status.CANCELLED
    assert fakes.alive(id) == []


async def test_case_069_closing_the_application_ends_every_tree(
    house: House, tmp_path: Path
) -> None:
    fakes.seat_behaviour(house, "opencode", "ignores_term", folder=tmp_path)
    ids = [await start(house, "opencode") for _ in range(2)]
    await house.app.turns.close()
    assert [fakes.alive(id) for id in ids] == [[], []]


async def test_case_070_what_could_not_be_ended_is_told_and_starts_nothing_again(
    house: House,
) -> None:
    async def leaves_some(run, on_event, cancel) -> Reply:
        return Reply(Status.FAILED, failure=Failure.CRASHED, message="x", leftovers=(4711,))

    puppet = Puppet("one", leaves_some, INLINE)
    house.seat(puppet)
    await house.ask("Go.", engine="one")
    (ended,) = await fakes.events(house, "turn.ended")
    assert ended.data["leftovers"] == [4711]
    await house.app.turns.recover()
    assert len(puppet.runs) == 1


@pytest.mark.parametrize("cli", CLIS)
async def test_case_072_a_program_that_waits_for_the_end_of_its_input_gets_it(
    house: House, cli: str, tmp_path: Path
) -> None:
    fakes.seat_behaviour(house, cli, "reads_stdin", folder=tmp_path)
    assert (await house.ask("Go.", engine=cli)).status is Status.DONE


@pytest.mark.parametrize("cli", CLIS)
async def test_case_073_a_silent_stall_ends_by_itself_and_says_so(
    house: House, cli: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.app.turns._runner, "_limits", Limits(total=60, idle=0.8))
    fakes.seat_behaviour(house, cli, "silence", folder=tmp_path)
    turn = await house.ask("Go.", engine=cli)
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.IDLE)
    assert fakes.alive(turn.id) == []
