"""The one function through which every request to every agent passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core import quote
from mufakat.core.pack import account, budget, fill, history, mode, resolution
from mufakat.core.pack.budget import Claim, Impossible
from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.fill import Filled, Wanted
from mufakat.core.pack.mode import Choice
from mufakat.core.pack.receipt import Receipt
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import table
from mufakat.core.pack.tiering import Decision
from mufakat.core.pack.utterance import Said

CHARS_PER_WINDOW_TOKEN = 1.5
"""Half of a model's window at three characters a token: the other half is for its work."""


@dataclass(frozen=True, slots=True)
class Pack:
    """What a request is told, and the receipt that accounts for it."""

    sections: tuple[Filled, ...]
    """Those that say something, in order."""
    prompt: str
    receipt: Receipt

    @property
    def text(self) -> str:
        """All sections in order, as a system slot gets them."""
        return "\n".join(section.text for section in self.sections)


def assemble(facts: Facts, sections: Sequence[Section] = table.SECTIONS) -> Pack | Impossible:
    """Make the pack of a request; the same facts give the same bytes."""
    choice = chosen(facts)
    total, variant = budget_of(facts.budget, facts.window_tokens)
    newest = history.render_newest(facts.history)
    wanted = [
        want(section, facts, newest)
        for section in sections
        if section.kind not in facts.muted
        and admitted(section, choice, conditions=facts.conditions, tiering=facts.tiering)
    ]
    allocation = budget.allocate(total, claims(wanted, facts, total))
    if isinstance(allocation, Impossible):
        return allocation
    filled, window_start = fill.fill(wanted, facts, newest, allocation.granted, total=total)
    receipt = account.receipt(
        facts,
        filled,
        choice=choice,
        budget=total,
        variant=variant,
        window_start=window_start,
        scaled_floors=allocation.scaled_floors,
    )
    return Pack(tuple(one for one in filled if one.text), facts.prompt, receipt)


def chosen(facts: Facts) -> Choice:
    """The mode of a request, and the rule that chose it."""
    return mode.choose(
        facts.mode,
        talk=facts.history.talk,
        has_plan=facts.has_plan,
        attachments=facts.attachments,
        roundtable=facts.roundtable,
    )


def admitted(
    section: Section, choice: Choice, *, conditions: Conditions, tiering: Sequence[Decision]
) -> bool:
    """Whether a section is told: by its condition, by the mode, or because its use has shown it.

    What a person asked for, by a mode or by attachments, is told whatever its use says.
    """
    usual = expected(section, choice, conditions=conditions)
    learnt = {one.kind: one.push for one in tiering}
    if choice.reason in mode.BY_HAND or section.kind not in learnt:
        return usual
    # Use can raise what would wait to be pulled; a condition that does not hold stays one.
    return learnt[section.kind] and (usual or section.tier > 1)


def expected(section: Section, choice: Choice, *, conditions: Conditions) -> bool:
    """Whether its row has a section told, by the mode or by its condition."""
    if section.since is not None and section.since <= choice.mode:
        return True
    return bool(section.when and section.when(conditions))


def budget_of(wanted: int, window_tokens: int | None) -> tuple[int, str]:
    """Characters for a request, and the variant that the model's window asks for."""
    if window_tokens is None:
        return wanted, "standard"
    room = int(window_tokens * CHARS_PER_WINDOW_TOKEN)
    return (room, "lite") if room < wanted else (wanted, "standard")


def want(section: Section, facts: Facts, newest: Sequence[Said]) -> Wanted:
    """What a section has to say, and how many characters all of it would take."""
    frame = quote.frame_chars(section.kind)
    if section.kind == table.HISTORY and newest:
        return Wanted(section, (), history.need(facts.history, newest) + frame)
    items = section.render(facts)
    if not items:
        return Wanted(section, (), 0)
    texts = sum(len(one.forms[0][1]) for one in items)
    separators = len(resolution.SEPARATOR) * (len(items) - 1)
    return Wanted(section, items, texts + separators + frame)


def claims(wanted: Sequence[Wanted], facts: Facts, total: int) -> list[Claim]:
    """The claims on the budget: the prompt, and every section by its row of the table."""
    fixed = sum(one.need for one in wanted if one.section.fixed) + len(facts.prompt)
    return [
        Claim(table.PROMPT, len(facts.prompt), fixed=True),
        *(_claim(one, facts, max(0, total - fixed)) for one in wanted),
    ]


def _claim(wanted: Wanted, facts: Facts, room: int) -> Claim:
    section = wanted.section
    if section.kind == table.HISTORY and wanted.need:
        least = history.guarantee(facts.history) + quote.frame_chars(table.HISTORY)
        return Claim(
            section.kind,
            wanted.need,
            weight=section.weight,
            floor=max(least, int(room * table.HISTORY_FLOOR)),
            guarantee=least,
            takes_rest=True,
        )
    return Claim(
        section.kind,
        wanted.need,
        weight=section.weight,
        floor=section.floor,
        ceiling=section.ceiling,
        fixed=section.fixed,
    )
