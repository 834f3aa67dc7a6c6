"""Agents that Mufakat runs take part like all others: states, credentials, the kill switch."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.core.base import Conflict, NotFound, Paused, Unauthenticated
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On, Report, State
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.ports.coordination import Life
from mufakat.ports.engine import OnEvent, Run
from mufakat.services.coordination import runs
from mufakat.services.coordination.agents import Joining
from mufakat.services.request import Ask
from mufakat.settings import load
from services.conftest import INLINE, House, Puppet, answers
from services.test_recovery import crash

pytestmark = pytest.mark.anyio
ADDRESS = "http://127.0.0.1:9"


@pytest.fixture
async def reached(tmp_path: Path, project: Path) -> AsyncIterator[House]:
    """An application that agents could reach."""
    home = tmp_path / "home"
    app = await application.build(load(home), address=ADDRESS)
    try:
        yield House(app, project, home)
    finally:
        await app.close()


async def states(house: House, identity: str) -> list[str]:
    """What an agent was said to do, in order; waiting with its reason."""
    found = await house.app.feed.after(0, limit=1_000, kinds=("agent.state",))
    mine = [one.data for one in found if one.subject == identity]
    return [f"{one['to']}:{one['on']}" if one["on"] else one["to"] for one in mine]


async def now(house: House, identity: str) -> Instance:
    return await house.app.agents.get(identity)


class Held:
    """An engine that begins, and goes on when the test says so."""

    def __init__(self, reply: Reply | None = None) -> None:
        self.began = asyncio.Event()
        self.go = asyncio.Event()
        self.reply = reply
        self.events: list[stream.StreamEvent] = []

    async def __call__(self, run: Run, on_event: OnEvent, cancel: asyncio.Event) -> Reply:
        for event in self.events:
            await on_event(event)
        self.began.set()
        stopped = asyncio.ensure_future(cancel.wait())
        going = asyncio.ensure_future(self.go.wait())
        await asyncio.wait({stopped, going}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        going.cancel()
        if cancel.is_set():
            return Reply(Status.CANCELLED)
        return self.reply or await answers(run, on_event, cancel)


async def start(house: House, held: Held, name: str = "one") -> object:
    house.seat(Puppet(name, held, INLINE))
    turn = await house.app.turns.ask(Ask("Go.", str(house.project), engine=name))
    await asyncio.wait_for(held.began.wait(), 10)
    return turn


async def test_an_agent_of_a_conversation_takes_part_from_its_acceptance(house: House) -> None:
    held = Held()
    turn = await start(house, held)
    instance = await now(house, turn.identity)
    assert instance.engine == "one" and instance.role == "general"
    assert len(instance.instance) == 32
    assert instance.instance.startswith(instance.identity.rpartition(":")[2])
    followers = await house.app.store.read(lambda tx: tx.members.of(turn.conversation))
    assert {one.identity for one in followers} == {
        turn.identity,
        house.app.agents.operator.identity,
    }


async def test_a_turn_is_working_and_then_idle(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE))
    turn = await house.ask("Go.", engine="one")
    assert await states(house, turn.identity) == ["starting", "working", "idle"]
    again = await house.ask("Go on.", engine="one", conversation=turn.conversation)
    assert again.identity == turn.identity
    assert await states(house, turn.identity) == ["starting", "working", "idle"] * 2
    assert (await now(house, turn.identity)).standing.run == again.id


async def test_a_state_and_what_it_means_are_in_one_step(house: House) -> None:
    held = Held()
    turn = await start(house, held)
    assert (await now(house, turn.identity)).standing.state is State.WORKING
    assert (await house.app.turns.get(turn.id)).status is Status.RUNNING
    found = await house.app.feed.after(0, limit=1_000)
    kinds = [one.kind for one in found if one.subject in {turn.identity, turn.id}]
    begun = kinds.index("turn.running")
    assert kinds[begun - 3 : begun] == ["agent.state", "agent.state", "turn.packed"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(Status.FAILED, failure=Failure.OVERLOADED), "blocked:error"),
        (Reply(Status.FAILED, failure=Failure.CRASHED), "offline:crashed"),
    ],
)
async def test_an_end_that_is_none_says_why(house: House, reply: Reply, expected: str) -> None:
    held = Held(reply)
    turn = await start(house, held)
    held.go.set()
    await house.app.turns.wait(turn.id, seconds=10)
    assert (await states(house, turn.identity))[-1] == expected
    house.seat(Puppet("one", answers, INLINE))
    await house.ask("Again.", engine="one", conversation=turn.conversation)
    assert (await states(house, turn.identity))[-1] == "idle"


async def test_a_cancelled_turn_leaves_an_idle_agent(house: House) -> None:
    turn = await start(house, Held())
    await house.app.turns.cancel(turn.id)
    assert (await states(house, turn.identity))[-1] == "idle"


async def test_a_question_for_permission_blocks_until_the_agent_goes_on(house: House) -> None:
    held = Held()
    held.events = [stream.Text("I want"), stream.PermissionAsked("p-1", "rm -r build")]
    turn = await start(house, held)
    blocked = await now(house, turn.identity)
    assert blocked.standing.state is State.BLOCKED and blocked.standing.on is On.APPROVAL
    held.go.set()
    await house.app.turns.wait(turn.id, seconds=10)
    assert (await states(house, turn.identity))[1:] == [
        "working",
        "blocked:approval",
        "working",
        "idle",
    ]


async def test_what_was_permitted_blocks_nobody(house: House) -> None:
    held = Held()
    held.events = [stream.PermissionAsked("p-1", "ls", granted=True)]
    turn = await start(house, held)
    assert (await now(house, turn.identity)).standing.state is State.WORKING


async def test_row_20_the_token_of_a_run_ends_with_it(reached: House) -> None:
    held = Held()
    turn = await start(reached, held)
    run = reached.app.roster.get("one").runs[0]
    assert run.access is not None and run.access.url == ADDRESS
    token = run.access.token
    assert token not in repr(run)
    by = await reached.app.agents.authenticate(token)
    assert by == Principal(Right.AGENT, turn.identity, epoch=1, run=turn.id)
    await reached.app.states.report(by, by.identity, Report(State.BLOCKED, on=On.LEASE))
    held.go.set()
    await reached.app.turns.wait(turn.id, seconds=10)
    with pytest.raises(Unauthenticated):
        await reached.app.agents.authenticate(token)


async def test_twin_row_20_a_token_that_is_not_revoked_outlives_its_run(
    reached: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(await reached.app.store.read(lambda tx: tx.credentials))
    monkeypatch.setattr(kind, "end", lambda *args, **more: 0)
    held = Held()
    turn = await start(reached, held)
    token = reached.app.roster.get("one").runs[0].access.token
    held.go.set()
    await reached.app.turns.wait(turn.id, seconds=10)
    assert await reached.app.agents.authenticate(token)


async def test_no_token_reaches_the_log(reached: House) -> None:
    async def babbles(run: Run, on_event: OnEvent, cancel: asyncio.Event) -> Reply:
        assert run.access is not None
        await on_event(stream.Notice(f"my token is {run.access.token}"))
        return Reply(Status.DONE, text="done")

    puppet = Puppet("one", babbles, INLINE)
    reached.seat(puppet)
    await reached.ask("Go.", engine="one")
    log = str(await reached.app.feed.after(0, limit=1_000))
    assert puppet.runs[0].access.token not in log


async def test_c5_after_a_killed_server_its_runs_have_crashed(house: House) -> None:
    await crash(house, type(house.app.turns))
    interrupted = next(
        one for one in await house.app.turns.list() if one.status is Status.INTERRUPTED
    )
    mine = await states(house, interrupted.identity)
    assert "offline:crashed" in mine and mine[-1] == "idle"


async def test_an_agent_of_an_older_database_takes_part_from_its_next_turn(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE))
    turn = await house.ask("Go.", engine="one")
    name = "one@old-box:abcdef"

    def older(tx) -> None:
        agent = tx.agents.list(turn.conversation)[0]
        conversation = tx.conversations.get(turn.conversation)
        stranger = dataclasses.replace(agent, identity=name)
        runs.begin(tx, stranger, conversation, run="t_1", told=0)

    with pytest.raises(NotFound):
        await now(house, name)
    await house.app.store.write(older)
    assert (await now(house, name)).standing.state is State.WORKING


async def test_a_session_that_mufakat_runs_just_now_cannot_be_joined(house: House) -> None:
    held = Held()
    turn = await start(house, held)
    mine = await now(house, turn.identity)
    binding = dataclasses.replace(mine.binding, session="s-1")
    await house.app.store.write(
        lambda tx: tx.instances.keep(dataclasses.replace(mine, binding=binding))
    )
    joining = Joining("one", session="s-1")
    with pytest.raises(Conflict):
        await house.app.agents.join(Principal(Right.JOIN), joining)
    held.go.set()
    await house.app.turns.wait(turn.id, seconds=10)
    joined = await house.app.agents.join(Principal(Right.JOIN), joining)
    assert joined.instance.identity == turn.identity and joined.resumed
    house.seat(Puppet("one", answers, INLINE))
    await house.ask("Again.", engine="one", conversation=turn.conversation)
    credential = await house.app.store.read(
        lambda tx: (
            tx.credentials.end(turn.identity, Life.REVOKED)
            if False
            else tx.instances.get(turn.identity)
        )
    )
    assert credential.epoch == 3, "the next run supersedes the session that joined"
    with pytest.raises(Conflict):
        await house.app.agents.authenticate(joined.token)


async def test_a10_a_pause_refuses_new_turns_and_ends_run_tokens(reached: House) -> None:
    held = Held()
    turn = await start(reached, held)
    token = reached.app.roster.get("one").runs[0].access.token
    await reached.app.agents.pause(reached.app.agents.operator)
    with pytest.raises(Unauthenticated):
        await reached.app.agents.authenticate(token)
    with pytest.raises(Paused):
        await reached.app.turns.ask(Ask("More.", str(reached.project), engine="one"))
    held.go.set()
    ended = await reached.app.turns.wait(turn.id, seconds=10)
    assert ended.status is Status.DONE
    await reached.app.agents.unpause(reached.app.agents.operator)
    assert (await reached.ask("More.", engine="one")).status is Status.DONE


async def test_a10_what_is_queued_waits_for_the_end_of_the_pause(house: House) -> None:
    held = Held()
    first = await start(house, held)
    second = await house.app.turns.ask(
        Ask("More.", str(house.project), first.conversation, engine="one")
    )
    third = await house.app.turns.ask(
        Ask("Even more.", str(house.project), first.conversation, engine="one")
    )
    await house.app.agents.pause(house.app.agents.operator)
    held.go.set()
    await house.app.turns.wait(first.id, seconds=10)
    await asyncio.sleep(0.1)
    assert (await house.app.turns.get(second.id)).status is Status.QUEUED
    cancelled = await house.app.turns.cancel(second.id)
    assert cancelled.status is Status.CANCELLED
    await house.app.agents.unpause(house.app.agents.operator)
    assert (await house.app.turns.wait(third.id, seconds=10)).status is Status.DONE


async def test_twin_a10_without_the_switch_the_queue_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held()
    first = await start(house, held)
    second = await house.app.turns.ask(
        Ask("More.", str(house.project), first.conversation, engine="one")
    )
    await house.app.agents.pause(house.app.agents.operator)
    monkeypatch.setattr("mufakat.services.coordination.pause.paused", lambda tx: False)
    held.go.set()
    assert (await house.app.turns.wait(second.id, seconds=10)).status is Status.DONE
