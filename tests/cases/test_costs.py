"""Tokens, cost and limits: four buckets that add up, bounded turns, nothing asked twice."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from cases import fakes
from mufakat.core.pack import deliver
from mufakat.core.talk.turn import Failure, Status
from mufakat.core.talk.usage import Usage
from mufakat.engines.claude import counting
from mufakat.engines.claude import events as claude
from mufakat.engines.cli import one_shot
from mufakat.engines.codex import events as codex
from mufakat.engines.gemini import events as gemini
from mufakat.engines.openai_compat import events as completion
from mufakat.engines.opencode import events as opencode
from mufakat.engines.process.command import Line
from mufakat.services import acceptance, idempotency
from mufakat.services.request import Ask
from mufakat.services.runner import Limits
from services.conftest import INLINE, SPLIT, House, Puppet, answers

pytestmark = pytest.mark.anyio

SESSION = "8df2a63a-0000-4000-8000-000000000001"
TURNS = [Usage(100, 0, 40, 20), Usage(10, 140, 12, 30), Usage(7, 152, 0, 5)]
"""What three turns of one session really cost, each by itself."""


def total(turns: list[Usage]) -> Usage:
    return Usage(*(sum(getattr(one, name) for one in turns) for name in BUCKETS))


BUCKETS = ("fresh", "cache_read", "cache_write", "output")


def claude_turn(one: Usage, running: Usage, before: Usage) -> tuple[Usage, Usage]:
    """Claude's result counts this process in `usage` and its whole session by model."""
    usage = {
        "input_tokens": one.fresh,
        "cache_read_input_tokens": one.cache_read,
        "cache_creation_input_tokens": one.cache_write,
        "output_tokens": one.output,
    }
    row = {
        "inputTokens": running.fresh,
        "cacheReadInputTokens": running.cache_read,
        "cacheCreationInputTokens": running.cache_write,
        "outputTokens": running.output,
    }
    result = {"type": "result", "subtype": "success", "result": "x", "usage": usage}
    return said(claude.Claude("", before), {**result, "modelUsage": {"m": row}}, before)


def codex_turn(one: Usage, running: Usage, before: Usage) -> tuple[Usage, Usage]:
    """Codex tells the thread's total; its input includes both sides of the cache."""
    del one
    usage = {
        "input_tokens": running.fresh + running.cache_read + running.cache_write,
        "cached_input_tokens": running.cache_read,
        "cache_write_input_tokens": running.cache_write,
        "output_tokens": running.output,
        "reasoning_output_tokens": running.output // 2,
    }
    return said(codex.Codex("", before), {"type": "turn.completed", "usage": usage}, before)


def gemini_turn(one: Usage, running: Usage, before: Usage) -> tuple[Usage, Usage]:
    """Gemini tells one process; its input includes the cache, its total the reasoning."""
    del running
    given = one.fresh + one.cache_read + one.cache_write
    stats = {
        "input_tokens": given,
        "cached": one.cache_read,
        "output_tokens": one.output // 2,
        "total_tokens": given + one.output,
    }
    return said(gemini.Gemini(""), {"type": "result", "status": "success", "stats": stats}, before)


def opencode_turn(one: Usage, running: Usage, before: Usage) -> tuple[Usage, Usage]:
    """OpenCode tells each step; its input excludes the cache, reasoning stands apart."""
    del running
    tokens = {
        "input": one.fresh,
        "output": one.output - one.output // 2,
        "reasoning": one.output // 2,
        "cache": {"read": one.cache_read, "write": one.cache_write},
        "total": one.total,
    }
    part = {"reason": "stop", "tokens": tokens}
    return said(opencode.OpenCode(), {"type": "step_finish", "part": part}, before)


def said(parser: one_shot.Parser, event: dict[str, object], before: Usage) -> tuple[Usage, Usage]:
    """The turn's own usage, and what is kept for the next turn."""
    list(one_shot.events_of(parser, Line(json.dumps(event))))
    found = parser.said(0)
    return found.usage, found.running_total or before


VENDORS = {
    "claude": claude_turn,
    "codex": codex_turn,
    "gemini": gemini_turn,
    "opencode": opencode_turn,
}


def counted(vendor: str) -> list[Usage]:
    """What three turns of one session are counted as."""
    found, before = [], Usage()
    for number, one in enumerate(TURNS):
        usage, before = VENDORS[vendor](one, total(TURNS[: number + 1]), before)
        found.append(usage)
    return found


@pytest.mark.parametrize("vendor", VENDORS)
def test_case_096_three_turns_are_counted_whole_and_once(vendor: str) -> None:
    found = counted(vendor)
    if vendor == "gemini":
        # Its statistics do not tell what was written to a cache: that counts as fresh.
        expected = [Usage(t.fresh + t.cache_write, t.cache_read, 0, t.output) for t in TURNS]
    else:
        expected = TURNS
    assert found == expected
    assert total(found).total == total(TURNS).total


@pytest.mark.parametrize("vendor", ["claude", "codex"])
def test_case_098_twin_adding_running_totals_up_counts_several_times(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (counting.usages, codex.usages):
        monkeypatch.setattr(module, "since", lambda earlier, now: now)
    assert total(counted(vendor)).total > 1.5 * total(TURNS).total


@pytest.mark.parametrize("vendor", ["codex", "gemini", "openai_compat"])
def test_case_099_what_came_from_the_cache_is_not_fresh_too(vendor: str) -> None:
    match vendor:
        case "codex":
            usage = codex.count({"input_tokens": 1000, "cached_input_tokens": 900})
        case "gemini":
            usage = gemini.count({"input_tokens": 1000, "cached": 900, "total_tokens": 1000})
        case _:
            details = {"cached_tokens": 900}
            usage = completion.count({"prompt_tokens": 1000, "prompt_tokens_details": details})
    assert (usage.fresh, usage.cache_read, usage.total) == (100, 900, 1000)


@pytest.mark.parametrize("vendor", ["codex", "gemini", "opencode"])
def test_case_099_reasoning_is_output_once(vendor: str) -> None:
    match vendor:
        case "codex":
            usage = codex.count({"output_tokens": 50, "reasoning_output_tokens": 30})
        case "gemini":
            usage = gemini.count({"total_tokens": 50, "output_tokens": 20})
        case _:
            # Older versions count reasoning into the output, newer ones apart: the total decides.
            inside = {"tokens": {"output": 50, "reasoning": 30, "total": 50}}
            apart = {"tokens": {"output": 20, "reasoning": 30, "total": 50}}
            assert opencode.count(inside) == opencode.count(apart)
            usage = opencode.count(apart)
    assert usage.output == usage.total == 50


async def test_case_090_the_same_request_sent_again_and_again_is_asked_once(house: House) -> None:
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    ask = Ask("Once.", str(house.project), engine="one")
    turns = await asyncio.gather(*(house.app.turns.ask(ask, key="k") for _ in range(40)))
    assert len({turn.id for turn in turns}) == 1
    await house.app.turns.wait(turns[0].id, seconds=20)
    assert len(puppet.runs) == 1


async def test_case_090_twin_a_build_without_keys_asks_forty_times(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert acceptance.idempotency is idempotency
    monkeypatch.setattr(idempotency, "earlier", lambda tx, key, digest: None)
    monkeypatch.setattr(idempotency, "keep", lambda tx, key, digest, result: None)
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    ask = Ask("Once.", str(house.project), engine="one")
    turns = await asyncio.gather(*(house.app.turns.ask(ask, key="k") for _ in range(40)))
    for turn in turns:
        await house.app.turns.wait(turn.id, seconds=20)
    assert len(puppet.runs) == 40


async def test_case_091_a_resumed_session_is_not_sent_its_past_again(house: House) -> None:
    puppet = Puppet("one", answers, SPLIT)
    house.seat(puppet)
    turn = await house.ask("Begin. " + "context " * 2_000, engine="one")
    for number in range(10):
        await house.ask(f"Step {number}.", engine="one", conversation=turn.conversation)
    later = [run.delivery.user for run in puppet.runs[1:]]
    assert later == [f"Step {number}." for number in range(10)]


async def test_case_091_twin_a_build_that_forks_the_whole_context_sends_it_each_time(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = deliver.resumed

    def forks(pack, told, **more):
        return whole(pack, frozenset(), **more)

    monkeypatch.setattr(deliver, "resumed", forks)
    puppet = Puppet("one", answers, SPLIT)
    house.seat(puppet)
    turn = await house.ask("Begin. " + "context " * 2_000, engine="one")
    for number in range(3):
        await house.ask(f"Step {number}.", engine="one", conversation=turn.conversation)
    assert all(len(run.delivery.user) > 1_000 for run in puppet.runs[1:])


async def test_case_094_every_turn_has_a_budget_and_two_deadlines(house: House) -> None:
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    conversation = ""
    for number in range(8):
        turn = await house.ask(
            f"{number} " + "word " * 1_500, engine="one", conversation=conversation, fresh=True,
            budget=20_000,
        )  # fmt: skip
        conversation = turn.conversation
    assert all(len(run.delivery.user) <= 20_000 for run in puppet.runs)
    assert all(0 < run.idle_seconds < run.total_seconds <= 3_600 for run in puppet.runs)


async def test_case_094_a_turn_that_talks_without_end_is_ended(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.app.turns._runner, "_limits", Limits(total=2.5, idle=60))
    fakes.seat_behaviour(house, "codex", "drip", folder=tmp_path)
    turn = await house.ask("Go.", engine="codex")
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.DEADLINE)
    assert fakes.alive(turn.id) == []


async def test_case_095_the_size_of_a_request_is_known_before_anybody_is_asked(
    house: House,
) -> None:
    puppet = Puppet("one", answers, INLINE)
    house.seat(puppet)
    ask = Ask("How large is this?", str(house.project), engine="one")
    preview = await house.app.turns.preview(ask)
    assert puppet.runs == []
    assert len(preview.user) <= preview.receipt.budget
    turn = await house.app.turns.wait((await house.app.turns.ask(ask)).id, seconds=20)
    assert turn.status is Status.DONE
    assert (await house.app.packs.get(turn.pack)).receipt.used == preview.receipt.used
    assert len(puppet.runs) == 1
