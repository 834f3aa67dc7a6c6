"""What packing reads of a conversation: enough for the budget, and no more than that."""

from __future__ import annotations

import pytest

from mufakat.core import quote
from mufakat.core.pack.facts import HistoryFacts
from mufakat.core.pack.receipt import Receipt
from mufakat.core.talk import message
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind
from mufakat.services import talk
from mufakat.services.request import Ask
from services.conftest import House

pytestmark = pytest.mark.anyio
AGENT = "claude@host:000001"
LOG = "a line of a log that nobody reads again\n" * 90


async def conversation(house: House, drafts: list[message.Draft]) -> Conversation:
    """A conversation in which all of it was said."""
    started = await house.app.talk.start(str(house.project), "made")

    def step(tx) -> None:
        for draft in drafts:
            talk.append(tx, started.id, draft)

    await house.app.store.write(step)
    return await house.app.talk.conversation(started.id)


def words(count: int, chars: int = 400) -> list[message.Draft]:
    kinds = (Kind.PERSON, "human@web:000000"), (Kind.AGENT, AGENT)
    return [message.draft(*kinds[n % 2], text=f"word {n} ".ljust(chars, "x")) for n in range(count)]


def tools(count: int) -> list[message.Draft]:
    return [
        message.draft(kind, AGENT, text=text, pair=str(n), label="Bash: tail log")
        for n in range(count)
        for kind, text in ((Kind.TOOL_CALL, "tail log"), (Kind.TOOL_RESULT, LOG))
    ]


async def preview(house: House, found: Conversation, budget: int = 0) -> Receipt:
    ask = Ask("Go on.", str(house.project), conversation=found.id, engine="scripted", budget=budget)
    return (await house.app.turns.preview(ask)).receipt


@pytest.mark.parametrize("budget", [20_000, 60_000, 300_000])
async def test_any_budget_is_filled_also_one_above_the_setting(house: House, budget: int) -> None:
    found = await conversation(house, words(1_000))
    receipt = await preview(house, found, budget)
    assert 0.98 * budget <= receipt.used <= budget


async def test_old_tool_results_do_not_count_for_what_they_are_not_told_in(house: House) -> None:
    found = await conversation(house, [*words(300), *tools(100)])
    receipt = await preview(house, found)
    assert receipt.used >= 0.98 * receipt.budget


async def read(house: House, found: Conversation) -> HistoryFacts:
    packing = house.app.turns._packing  # noqa: SLF001
    memory = await house.app.store.read(lambda tx: packing.reading.load(tx, found, None, asked=0))
    return memory.history


async def test_no_more_is_read_than_the_budget_needs(house: House) -> None:
    found = await conversation(house, words(1_000))
    chars = sum(len(said.text) for said in (await read(house, found)).newest)
    budget = house.app.settings.budget
    assert 0.9 * budget <= chars <= budget + 2 * quote.LONG


async def test_a_long_row_of_tool_results_is_not_read_to_its_end(house: House) -> None:
    found = await conversation(house, tools(2_000))
    assert len((await read(house, found)).newest) < 2_000
