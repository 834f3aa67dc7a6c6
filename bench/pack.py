"""Packing, side by side: the same conversation, every contender in turn, one run."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench import case, report, stability
from bench.case import PERSON, Case
from bench.process import ROOT, Contestant

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 31
ENOUGH_SECONDS, ENOUGH_RUNS = 20.0, 3
"""A slow contender rests after so much time, once it has so many runs."""
PEERS = ROOT / ".peers"
REQUEST = "Mufakat, a request"
NAMES = {
    REQUEST: "mufakat_request",
    "Mufakat, assembly alone": "mufakat_core",
    "prompt-tsx": "prompt_tsx",
    "LangChain, own counter": "langchain_counter",
    "LangChain, sum of lengths": "langchain",
    "LlamaIndex": "llamaindex",
}
HEAD_CHARS = 60
"""By its first characters a text is looked for in what a contender made."""
COLUMNS = (
    "contender",
    "p50 ms",
    "CPU ms",
    "ratio",
    "runs",
    "ready s",
    "characters",
    "newest",
    "last words",
    "sections",
)


async def measure(*, sizes: Sequence[int] = SIZES) -> str:
    """Measure all; answers the tables as Markdown."""
    parts = []
    for size in sizes:
        given = case.make(size)
        found = await side_by_side(given)
        parts.append(f"### {size:,} messages\n\n{table(given, found)}")
    parts.append(f"### Fill and prefix\n\n{await stability.measure()}")
    return "\n\n".join(parts)


async def side_by_side(given: Case) -> list[Contestant]:
    """Every contender on one case: prepared one after the other, then run in turns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.json"
        given.save(path)
        contestants = [Contestant(name, argv(module, path)) for name, module in NAMES.items()]
        try:
            for one in contestants:
                await one.start()
            for turn in range(ROUNDS):
                await _round(contestants, turn)
            for one in contestants:
                await one.show()
        finally:
            for one in contestants:
                await one.end()
    return contestants


async def _round(contestants: Sequence[Contestant], turn: int) -> None:
    """Run each once; every round begins with another one."""
    at = turn % len(contestants)
    for one in (*contestants[at:], *contestants[:at]):
        rested = sum(one.wall) > 1000 * ENOUGH_SECONDS and len(one.wall) >= ENOUGH_RUNS
        if not rested:
            await one.measure()


def argv(module: str, path: Path) -> list[str]:
    """The command of a contender; the peers have interpreters of their own."""
    if module == "prompt_tsx":
        return ["node", str(ROOT / "bench/contenders/prompt_tsx.mjs"), str(PEERS), str(path)]
    ours = module.startswith("mufakat")
    python = sys.executable if ours else str(PEERS / "venv" / "bin" / "python")
    return [python, "-m", "bench.contenders.serve", module, str(path)]


def table(given: Case, found: Sequence[Contestant]) -> str:
    """One size's table: how long it took, and what came of it."""
    base = next((median(one.cpu) for one in found if one.name == REQUEST and one.cpu), 1.0)
    return report.table(COLUMNS, [_row(given, one, base) for one in found])


def _row(given: Case, one: Contestant, base: float) -> list[str]:
    name = f"{one.name} ({one.version})" if one.version else one.name
    if one.p50 is None:
        return [name, one.problem or "no run", *[""] * (len(COLUMNS) - 2)]
    return [
        name,
        f"{one.p50:,.1f}",
        f"{median(one.cpu):,.1f}",
        f"{median(one.cpu) / base:,.2f}",
        str(len(one.wall)),
        f"{one.seconds:,.1f}",
        *quality(given, one.text),
    ]


def quality(given: Case, text: str) -> list[str]:
    """Size, newest message, last message of every agent, sections: what a text has of them."""
    over = " **over**" if len(text) > given.budget else ""
    last = {said.speaker: said.text for said in given.messages if said.speaker != PERSON}
    words = sum(held(text, each) for each in last.values())
    told = sum(any(held(text, each) for each in items) for _, items in given.sections)
    newest = "yes" if held(text, given.messages[-1].text) else "no"
    return [
        f"{len(text):,}{over}",
        newest,
        f"{words} of {len(last)}",
        f"{told} of {len(given.sections)}",
    ]


def held(text: str, part: str) -> bool:
    """Whether the beginning of `part` stands in `text`."""
    return part[:HEAD_CHARS] in text


def main() -> str:
    """Run the whole measurement."""
    return asyncio.run(measure())
