"""Waiting: nothing that came true is missed, nothing fires twice, no rules chase each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput, NotAllowed, NotFound, Paused, StaleState
from mufakat.core.coordination import state
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.state import On, Report, State
from mufakat.core.coordination.waiting import Action, Condition, Reaction
from mufakat.core.secrets import scrub
from mufakat.services.coordination import reactions, states
from mufakat.services.coordination.act import Outside
from mufakat.services.coordination.mailbox import Inbox
from services.coordination.crowd import Crowd, crowd_in, eventually

pytestmark = pytest.mark.anyio
IDLE, GONE = frozenset({State.IDLE}), frozenset({State.OFFLINE})


@pytest.fixture
async def crowd(tmp_path: Path) -> AsyncIterator[Crowd]:
    async with crowd_in(tmp_path / "home", tmp_path) as opened:
        yield opened


async def working(crowd: Crowd, **more: object) -> Principal:
    by, _ = await crowd.join(**more)
    await crowd.report(by, State.WORKING)
    return by


async def enqueue(
    crowd: Crowd, who: str, states: frozenset[State] = IDLE, *, once: bool = True
) -> Reaction:
    data = (("project", str(crowd.project)), ("prompt", "go on"))
    condition = Condition(who, states)
    return await crowd.waiting.react(crowd.person, condition, Action.ENQUEUE, data, once=once)


async def fired(crowd: Crowd) -> list[str]:
    return [event.subject for event in await crowd.events("reaction.fired")]


async def test_what_holds_already_is_not_waited_for(crowd: Crowd) -> None:
    by = await working(crowd)
    conditions = [Condition(by.identity, frozenset({State.WORKING}))]
    met = await crowd.waiting.wait(crowd.person, conditions, every=True, seconds=0)
    assert met.met and [one.identity for one in met.instances] == [by.identity]


async def test_a_wait_ends_when_the_last_condition_comes_true(crowd: Crowd) -> None:
    one, other = await working(crowd), await working(crowd)
    conditions = [Condition(by.identity, IDLE) for by in (one, other)]
    every = asyncio.create_task(
        crowd.waiting.wait(crowd.person, conditions, every=True, seconds=30)
    )
    some = asyncio.create_task(
        crowd.waiting.wait(crowd.person, conditions, every=False, seconds=30)
    )
    await crowd.report(one, State.IDLE)
    assert (await some).met
    assert not every.done()
    await crowd.report(other, State.IDLE)
    assert {one.identity for one in (await every).instances} == {one.identity, other.identity}


async def test_a_wait_that_is_over_says_what_is_so_far(crowd: Crowd) -> None:
    one, other = await working(crowd), await working(crowd)
    await crowd.report(one, State.IDLE)
    conditions = [Condition(by.identity, IDLE) for by in (one, other)]
    met = await crowd.waiting.wait(crowd.person, conditions, every=True, seconds=0.05)
    assert not met.met and [found.identity for found in met.instances] == [one.identity]


async def test_a_wait_for_a_time_is_for_a_time_without_a_break(crowd: Crowd) -> None:
    by = await working(crowd)
    await crowd.report(by, State.IDLE)
    conditions = [Condition(by.identity, IDLE, seconds=0.3)]
    at_once = await crowd.waiting.wait(crowd.person, conditions, every=True, seconds=0)
    assert not at_once.met
    assert (await crowd.waiting.wait(crowd.person, conditions, every=True, seconds=20)).met
    idle = await crowd.now(by.identity)
    assert await crowd.store.read(lambda tx: tx.now()) - idle.standing.since >= 300


async def test_a_wait_for_a_role_is_for_all_who_are_in_it(crowd: Crowd) -> None:
    one, other = await working(crowd, role="tester"), await working(crowd, role="tester")
    await crowd.report(one, State.IDLE)
    conditions = [Condition("role:tester", IDLE)]
    assert not (await crowd.waiting.wait(one, conditions, every=True, seconds=0)).met
    await crowd.report(other, State.IDLE)
    assert (await crowd.waiting.wait(one, conditions, every=True, seconds=0)).met


@pytest.mark.parametrize(
    ("conditions", "kind"),
    [
        ([], InvalidInput),
        ([Condition("nobody", IDLE)], NotFound),
        ([Condition("me", frozenset())], InvalidInput),
        ([Condition("me", IDLE, seconds=-1)], InvalidInput),
        ([Condition("me", IDLE, seconds=float("nan"))], InvalidInput),
        ([Condition("me", IDLE)] * 33, InvalidInput),
    ],
)
async def test_a_wait_for_nothing_sensible_is_refused(
    crowd: Crowd, conditions: list[Condition], kind: type[Exception]
) -> None:
    by = await working(crowd)
    with pytest.raises(kind):
        await crowd.waiting.wait(by, conditions, every=True, seconds=1)


async def test_an_agent_of_no_project_is_in_no_role_with_others(crowd: Crowd) -> None:
    by, _ = await crowd.join(project="")
    conditions = [Condition("role:tester", IDLE)]
    with pytest.raises(InvalidInput):
        await crowd.waiting.wait(by, conditions, every=True, seconds=0)


async def test_an_agent_waits_for_nobody_of_another_project(crowd: Crowd, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    by = await working(crowd)
    _, other = await crowd.join(project=str(elsewhere))
    with pytest.raises(NotFound):
        await crowd.waiting.wait(by, [Condition(other.identity, IDLE)], every=True, seconds=0)


async def test_s4_a_rule_fires_in_the_step_of_the_change(crowd: Crowd) -> None:
    by = await working(crowd)
    rule = await enqueue(crowd, by.identity)
    assert await fired(crowd) == []
    after = await crowd.report(by, State.IDLE)
    told = (await crowd.events("reaction.fired"))[0]
    assert told.subject == rule.id and told.revision == after.standing.revision + 1


async def test_s4_a_rule_made_too_late_fires_at_once(crowd: Crowd) -> None:
    by = await working(crowd)
    await crowd.report(by, State.IDLE)
    rule = await enqueue(crowd, by.identity)
    assert rule.done and await fired(crowd) == [rule.id]


async def test_s4_a_rule_fires_once_for_each_time_it_comes_true(crowd: Crowd) -> None:
    by = await working(crowd)
    rule = await enqueue(crowd, by.identity, once=False)
    for turn in range(3):
        await crowd.report(by, State.IDLE)
        await crowd.report(by, State.IDLE, debt=turn + 1)
        await crowd.store.write(reactions.evaluate)
        await crowd.report(by, State.WORKING)
    assert await fired(crowd) == [rule.id] * 3


async def test_twin_s4_without_its_keys_a_rule_fires_again_and_again(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.core.coordination.waiting._newest", lambda *_: ())
    by = await working(crowd)
    await enqueue(crowd, by.identity, once=False)
    await crowd.report(by, State.IDLE)
    await crowd.store.write(reactions.evaluate)
    assert len(await fired(crowd)) > 1


async def test_a_rule_on_crashes_fires_for_whoever_is_in_the_role(crowd: Crowd) -> None:
    by = await working(crowd, role="tester")
    rule = await enqueue(crowd, "role:tester", GONE)
    await crowd.store.write(lambda tx: states.depart(tx, by.identity, On.CRASHED))
    assert await fired(crowd) == [rule.id]


async def stale_idle(crowd: Crowd) -> list[str]:
    """A late idle of a run that is over; answers which dependants it has started."""
    _, first = await crowd.join(session="s-1")
    by, _ = await crowd.join(session="s-1")
    await crowd.report(by, State.WORKING)
    await enqueue(crowd, by.identity)
    late = Report(State.IDLE, run=first.standing.run, ordinal=50)
    with suppress(StaleState):
        await crowd.store.write(lambda tx: states.move(tx, by.identity, late))
    return await fired(crowd)


async def test_s3_a_stale_idle_starts_no_dependants(crowd: Crowd) -> None:
    assert await stale_idle(crowd) == []


async def test_twin_s3_without_the_runs_a_stale_idle_starts_them(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_refusal", lambda standing, report: None)
    assert await stale_idle(crowd) != []


async def missed_while_down(home: Path, project: Path) -> list[str]:
    """A change that happens while rules are not looked at; answers what the next start asks."""
    async with crowd_in(home, project) as crowd:
        by = await working(crowd)
        await enqueue(crowd, by.identity)
        # What an older server, or one that died inside a step of two, would leave behind.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reactions, "changed", lambda *_: None)
            await crowd.report(by, State.IDLE)
        assert await fired(crowd) == []
    async with crowd_in(home, project) as crowd:
        timer = crowd.timer()
        timer.start()
        try:
            with suppress(TimeoutError):
                await eventually(lambda: crowd.asked, seconds=1)
        finally:
            await timer.close()
        return [ask.prompt for ask, _ in crowd.asked]


async def test_s4_no_wake_up_is_lost_over_a_restart(tmp_path: Path) -> None:
    assert await missed_while_down(tmp_path / "home", tmp_path) == ["go on"]


async def test_twin_s4_with_edges_alone_the_dependant_waits_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reactions, "evaluate", lambda tx: None)
    assert await missed_while_down(tmp_path / "home", tmp_path) == []


async def test_a_turn_that_a_rule_ordered_is_asked_for_after_a_restart_with_its_key(
    tmp_path: Path,
) -> None:
    async with crowd_in(tmp_path / "home", tmp_path) as crowd:
        by = await working(crowd)
        rule = await enqueue(crowd, by.identity)
        await crowd.report(by, State.IDLE)
        # The server dies here: the rule has fired, nobody has been asked yet.
    keys = []
    for _ in range(2):
        async with crowd_in(tmp_path / "home", tmp_path) as crowd:
            timer = crowd.timer()
            timer.start()
            await asyncio.sleep(0.3)
            await timer.close()
            keys += [key for _, key in crowd.asked]
    assert len(keys) == 1 and keys[0].startswith(f"{rule.id}/{by.identity}/")


async def test_an_act_that_cannot_be_done_now_is_done_later(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.services.coordination.timer.AGAIN", 0.05)
    tries = 0

    async def paused(*_: object) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise Paused()

    by = await working(crowd)
    await enqueue(crowd, by.identity)
    timer = crowd.timer(outside=Outside(paused))
    timer.start()
    try:
        await crowd.report(by, State.IDLE)
        await eventually(lambda: tries == 3)
    finally:
        await timer.close()
    assert await crowd.waiting.list(crowd.person) == []


async def test_an_act_that_can_never_be_done_is_told(crowd: Crowd) -> None:
    async def refuse(*_: object) -> None:
        raise InvalidInput("no such engine")

    by = await working(crowd)
    rule = await enqueue(crowd, by.identity)
    timer = crowd.timer(outside=Outside(refuse))
    timer.start()
    try:
        await crowd.report(by, State.IDLE)
        await eventually(lambda: crowd.events("reaction.failed"))
    finally:
        await timer.close()
    failed = await crowd.events("reaction.failed")
    assert [(one.subject, one.data["code"]) for one in failed] == [(rule.id, "invalid_input")]


async def test_a_rule_with_a_time_fires_when_it_has_passed(crowd: Crowd) -> None:
    by = await working(crowd)
    condition = Condition(by.identity, IDLE, seconds=0.3)
    data = (("project", str(crowd.project)), ("prompt", "go on"))
    await crowd.waiting.react(crowd.person, condition, Action.ENQUEUE, data)
    timer = crowd.timer()
    timer.start()
    try:
        await crowd.report(by, State.IDLE)
        await crowd.report(by, State.WORKING)
        await asyncio.sleep(0.5)
        assert crowd.asked == []
        after = await crowd.report(by, State.IDLE)
        await eventually(lambda: crowd.asked)
        assert (await crowd.events("reaction.fired"))[0].at - after.standing.since >= 300
    finally:
        await timer.close()


async def test_an_agent_orders_no_turns_and_no_calls(crowd: Crowd) -> None:
    by = await working(crowd)
    me = Condition("me", IDLE)
    for action, data in (
        (Action.ENQUEUE, (("prompt", "x"), ("project", "/"))),
        (Action.WEBHOOK, (("url", "http://127.0.0.1"),)),
    ):
        with pytest.raises(NotAllowed):
            await crowd.waiting.react(by, me, action, data)


@pytest.mark.parametrize(
    ("action", "data"),
    [
        (Action.SEND, ()),
        (Action.SEND, (("body", "x"), ("from", "human"))),
        (Action.SEND, (("body", "x"), ("to", "a"), ("priority", "9"))),
        (Action.ENQUEUE, (("prompt", "x"),)),
        (Action.WEBHOOK, (("url", "file:///etc/passwd"),)),
        (Action.RELEASE, ()),
        (Action.SEND, (("body", "x" * 300_000), ("to", "a"))),
    ],
)
async def test_a_rule_that_makes_no_sense_is_refused(
    crowd: Crowd, action: Action, data: tuple[tuple[str, str], ...]
) -> None:
    by = await working(crowd)
    with pytest.raises(InvalidInput):
        await crowd.waiting.react(crowd.person, Condition(by.identity, IDLE), action, data)
    assert await crowd.events("reaction.added") == []


async def test_what_a_rules_owner_wanted_to_be_told_comes_from_mufakat(crowd: Crowd) -> None:
    by, other = await working(crowd), await working(crowd)
    data = (("to", by.identity), ("body", "They are done."))
    await crowd.waiting.react(by, Condition(other.identity, IDLE), Action.SEND, data)
    await crowd.report(other, State.IDLE)
    assert await crowd.events("reaction.failed") == []
    (told,) = await crowd.events("inbox.delivered")
    assert told.subject == by.identity
    data = (("to", other.identity), ("body", "You are done."))
    await crowd.waiting.react(by, Condition(other.identity, IDLE), Action.SEND, data)
    delivered = await crowd.events("inbox.delivered")
    assert [one.subject for one in delivered] == [by.identity, other.identity]


async def test_a_secret_in_a_rules_message_is_known_as_one(crowd: Crowd) -> None:
    by, other = await working(crowd), await working(crowd)
    data = (("to", other.identity), ("body", f"key: AIza{'Sx7' * 11}yZ"))
    await crowd.waiting.react(by, Condition(other.identity, IDLE), Action.SEND, data)
    await crowd.report(other, State.IDLE)
    letters = await Inbox(crowd.store, scrub).of(crowd.person, other.identity)
    assert [one.text for one in letters] and "AIza" not in letters[0].text


async def test_rules_belong_to_who_made_them(crowd: Crowd) -> None:
    by, other = await working(crowd), await working(crowd)
    data = (("to", other.identity), ("body", "x"))
    rule = await crowd.waiting.react(by, Condition(by.identity, GONE), Action.SEND, data)
    assert [one.id for one in await crowd.waiting.list(by)] == [rule.id]
    assert await crowd.waiting.list(other) == []
    with pytest.raises(NotAllowed):
        await crowd.waiting.remove(other, rule.id)
    await crowd.waiting.remove(by, rule.id)
    assert await crowd.waiting.list(by) == []
    with pytest.raises(NotFound):
        await crowd.waiting.remove(by, "x_none")


async def test_a_removed_rule_fires_no_more(crowd: Crowd) -> None:
    by = await working(crowd)
    rule = await enqueue(crowd, by.identity)
    await crowd.waiting.remove(crowd.person, rule.id)
    await crowd.report(by, State.IDLE)
    assert await fired(crowd) == []
