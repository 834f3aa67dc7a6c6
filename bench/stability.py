"""What speed must not cost: the budget used, and the prefix that consecutive packs share."""

from __future__ import annotations

import dataclasses
import os
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from bench import case, report
from bench.case import LISTS, PERSON, REGULARS, Case, Said
from bench.contenders import store, tables
from mufakat.core.base import AgentId
from mufakat.core.pack import assemble
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.sections import table as rows
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.store import Store
from mufakat.services.packing import Packing

TURNS = 120
BEFORE = 1_000
"""Messages that were said before the first turn."""
CHANGING = {"coordination", "retrieval"}
"""Kinds of sections that say something else every turn; participants do so by themselves."""


@dataclass(slots=True)
class Seen:
    """What the packs of all turns were like; shares from 0 to 1."""

    fill: list[float]
    prefix: list[float]
    over: int = 0


async def measure() -> str:
    """The table of 120 turns of one conversation."""
    seen = await _turns(random.Random(7))
    columns = (f"over {TURNS} turns", "mean", "least")
    shares = (("fill: used ÷ budget", seen.fill), ("prefix shared", seen.prefix))
    lines = [[name, f"{fmean(each):.3f}", f"{min(each):.3f}"] for name, each in shares]
    return report.table(columns, [*lines, ["packs over budget", str(seen.over), ""]])


async def _turns(rng: random.Random) -> Seen:
    seen = Seen([], [])
    given = case.make(BEFORE)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        kept, conversation = await store.filled(given, home)
        packing = store.packing(kept, home, budget=given.budget)
        before = ""
        for turn in range(TURNS):
            made = await _turn(kept, packing, conversation, _changed(given, rng))
            seen.fill.append(made.receipt.used / made.receipt.budget)
            seen.over += made.receipt.used > made.receipt.budget
            if before:
                shared = len(os.path.commonprefix([before, made.text]))
                seen.prefix.append(shared / len(before))
            before = stable(made)
            await store.keep(kept, conversation.id, _said(BEFORE + 2 * turn, turn, rng))
        await kept.close()
    return seen


async def _turn(kept: Store, packing: Packing, conversation: Conversation, given: Case) -> Pack:
    """Pack as a turn does, and hold the window for the next one."""
    memory = await kept.read(
        lambda tx: packing.reading.load(tx, conversation, AgentId("a_claude"), asked=0)
    )
    facts = tables.facts(given, memory.history, memory.speakers)
    made = assemble.assemble(facts, tables.twenty(given))
    assert isinstance(made, Pack)
    start = made.receipt.window_start
    await kept.write(lambda tx: tx.conversations.hold_window(conversation.id, start))
    return made


def stable(made: Pack) -> str:
    """The text of the sections up to the history, which consecutive packs should share."""
    texts = []
    for section in made.sections:
        texts.append(section.text)
        if section.kind == rows.HISTORY:
            break
    return "\n".join(texts)


def _changed(given: Case, rng: random.Random) -> Case:
    sizes = {kind: (count, chars) for kind, count, chars in LISTS}
    sections = tuple(
        (kind, case.items(rng, *sizes[kind]) if kind in CHANGING else items)
        for kind, items in given.sections
    )
    return dataclasses.replace(given, sections=sections)


def _said(number: int, turn: int, rng: random.Random) -> list[Said]:
    """What a turn adds: a question and an answer."""
    agent = REGULARS[turn % len(REGULARS)]
    return [
        Said(number + 1, PERSON, case.prose(rng, rng.randint(40, 200))),
        Said(number + 2, agent, case.prose(rng, rng.randint(100, 900))),
    ]
