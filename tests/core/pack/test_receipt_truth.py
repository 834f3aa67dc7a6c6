"""What a receipt and a preview say is what the agent is told."""

from __future__ import annotations

import random
from dataclasses import replace

from core.pack import conversations as made
from mufakat.core.pack import assemble
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Resolution
from mufakat.core.talk.message import Kind, Message

AGENT = "claude@host:000001"


def pack(facts: Facts) -> Pack:
    made_of = assemble.assemble(facts)
    assert isinstance(made_of, Pack)
    return made_of


def section(facts: Facts, kind: str):
    return next(row for row in pack(facts).receipt.sections if row.kind == kind)


def tools(count: int, *, chars: int = 200) -> list[Message]:
    """Calls and their results, one after the other."""
    kinds = (Kind.TOOL_CALL, Kind.TOOL_RESULT)
    return [
        made.message(
            n + 1, "x" * chars, AGENT, kind=kinds[n % 2], pair=f"t/{n // 2}", label="Bash: make"
        )
        for n in range(count)
    ]


def test_a_message_that_earlier_tells_is_not_counted_as_dropped() -> None:
    said = made.talk(400, random.Random(1))
    facts = made.facts(said, budget=30_000)
    told = {item.id for kind in ("history", "earlier") for item in section(facts, kind).items}
    assert section(facts, "earlier").items
    assert section(facts, "history").dropped == len(said) - len(told)


def test_floors_that_were_scaled_down_are_in_the_receipt() -> None:
    said = made.talk(40, random.Random(2))
    role = replace(made.facts().role, text="Do it well. " * 300)
    assert any("floors" in note for note in pack(_with(said, role, 2_400)).receipt.notes)
    assert not any("floors" in note for note in pack(_with(said, role, 60_000)).receipt.notes)


def _with(said: list[Message], role, budget: int) -> Facts:
    return replace(made.facts(said, budget=budget), role=role)


def test_a_role_document_of_any_length_is_told_by_its_two_ends() -> None:
    role = replace(made.facts().role, text="BEGIN " + "word " * 5_000 + " END")
    (told,) = section(replace(made.facts(), role=role), "role").items
    assert told.resolution is Resolution.TRIMMED
    assert told.chars > 3_900


def test_a_role_document_is_shortened_before_it_is_dropped() -> None:
    role = replace(made.facts().role, text="Do it well. " * 250)
    (told,) = section(_with(made.talk(40, random.Random(3)), role, 3_600), "role").items
    assert told.resolution is not Resolution.FULL


def test_a_preview_shortens_the_same_tool_results_as_the_request_itself() -> None:
    said = tools(6)
    asked = [*said, made.message(7, "What now?")]
    before = made.facts(said)
    request = replace(before, history=made.history(asked, asked=7))
    assert pack(before).receipt.parity == pack(request).receipt.parity


def test_no_guarantee_is_kept_for_a_gap_that_the_prompt_alone_would_be() -> None:
    said = [made.message(1, "Hello. " * 100), made.message(2, "Yes? " * 100, AGENT)]
    asked = [*said, made.message(3, "What now?")]
    before = made.facts(said)
    least = assemble.assemble(replace(before, budget=1))
    request = replace(before, budget=1, history=made.history(asked, asked=3))
    assert assemble.assemble(request) == least


def test_earlier_tells_no_tool_result_without_its_call() -> None:
    talk = [replace(one, number=one.number + 200) for one in made.talk(60, random.Random(4))]
    for budget in range(30_000, 34_000, 97):
        facts = made.facts([*tools(200, chars=400), *talk], budget=budget)
        rows = pack(facts).sections
        told = {p.told.id for row in rows for p in row.pieces}
        results = [m for m in facts.history.newest if m.kind is Kind.TOOL_RESULT]
        for result in results:
            if f"m:{result.number}" in told:
                assert f"m:{result.number - 1}" in told, (budget, result.number)
