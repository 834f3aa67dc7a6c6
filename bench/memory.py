"""Conversation retrieval on LoCoMo: which turns answer a question, and what they cost to tell."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from bench import baselines, locomo, report, vectors
from bench.locomo import Asked, Talk, Turn
from mufakat.core import secrets
from mufakat.core.base import MessageId, ProjectId
from mufakat.core.talk import message
from mufakat.core.talk.message import Draft, Kind
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk as talking
from mufakat.services.knowledge.recall import MOST, Recall, Scope
from mufakat.storage import store as sqlite

DEPTHS = (5, 10, 20)
BUDGETS = (2_000, 4_000, 8_000, 16_000)
OURS = "Mufakat"
LARGE = 100_000
COLUMNS = ("ranker", *(f"@{k}" for k in DEPTHS), *(f"{n:,} chars" for n in BUDGETS))
BASELINES: dict[str, Callable[[Talk], baselines.Ranking]] = {
    "FTS5 (porter), the turn's text": baselines.fts5,
    "FTS5 and one neighbour each side": lambda talk: baselines.beside(
        baselines.fts5(talk), len(talk.turns)
    ),
    "BM25, words as spelled": baselines.bm25,
    "the newest turns": baselines.recency,
}


class Moved:
    """A clock that stands still until it is moved."""

    def __init__(self, at: int) -> None:
        self.at = at

    def wall(self) -> int:
        return self.at

    def elapsed(self) -> int:
        return self.at


@dataclass(slots=True)
class Sum:
    """What one ranker found of the gold turns, over all questions of one half."""

    questions: int = 0
    found: list[float] = field(default_factory=lambda: [0.0] * (len(DEPTHS) + len(BUDGETS)))

    def add(self, shares: Sequence[float]) -> None:
        self.questions += 1
        self.found = [sum_ + one for sum_, one in zip(self.found, shares, strict=True)]

    @property
    def means(self) -> list[float]:
        return [sum_ / max(1, self.questions) for sum_ in self.found]


@dataclass(frozen=True, slots=True)
class Stored:
    """A talk in the store: its project, and which message each turn has become."""

    talk: Talk
    project: ProjectId
    turns: dict[MessageId, Turn]


async def measure(data: Path | None = None, model: str = "") -> str:
    """Measure all, with `model` also with vectors; answers the tables as Markdown."""
    talks = locomo.load(data)
    with tempfile.TemporaryDirectory() as folder:
        clock = Moved(min(turn.at for talk in talks for turn in talk.turns))
        store = await sqlite.open_store(Path(folder) / "mufakat.db", readings=clock)
        try:
            stored = await fill(store, talks, clock)
            recall = Recall(store, partial(secrets.scrub, known=()), clock=time.monotonic)
            seconds = await _indexed(recall, [one.project for one in stored])
            sums, waits = await _ours(recall, stored, OURS)
            told = await _with_vectors(store, stored, model, sums) if model else ""
        finally:
            await store.close()
    for name, make in BASELINES.items():
        for talk in talks:
            ranking = make(talk)
            for asked in talk.questions:
                sums.setdefault((name, talk.fitted), Sum()).add(_baseline(talk, asked, ranking))
    turns = sum(len(talk.turns) for talk in talks)
    speed = await _speed_at_large(talks)
    speeds = (
        f"{turns:,} turns were indexed in {seconds:.1f} s; a question took {_spread(waits)} there, "
        f"{speed}.{told}"
    )
    return "\n\n".join([*(_half(sums, fitted) for fitted in (False, True)), speeds])


async def fill(store: Store, talks: Sequence[Talk], clock: Moved) -> list[Stored]:
    """Store every talk as a project and every session as a conversation, in order of time."""
    stored = []
    for talk in talks:
        name = f"talk-{talk.number}"
        project = await store.write(partial(talking.ensure_project, path=f"/{name}", name=name))
        stored.append(Stored(talk, project.id, {}))
    sessions = [
        (one, [turn for turn in one.talk.turns if turn.session == number])
        for one in stored
        for number in sorted({turn.session for turn in one.talk.turns})
    ]
    for one, turns in sorted(sessions, key=lambda pair: pair[1][0].at):
        clock.at = max(clock.at, turns[0].at)
        ids = await store.write(partial(_session, project=one.project, turns=turns))
        one.turns.update(zip(ids, turns, strict=True))
    return stored


def _session(tx: Transaction, project: ProjectId, turns: Sequence[Turn]) -> list[MessageId]:
    home = tx.projects.get(project)
    assert home is not None
    thread = talking.add(tx, home, f"Session {turns[0].session}")
    return [talking.append(tx, thread.id, _draft(turn)).id for turn in turns]


def _draft(turn: Turn) -> Draft:
    return message.draft(Kind.PERSON, turn.speaker, text=turn.text)


async def _indexed(recall: Recall, projects: Sequence[ProjectId]) -> float:
    start = time.perf_counter()
    for project in projects:
        assert await recall.catch_up(project, seconds=600) == 0
    return time.perf_counter() - start


async def _with_vectors(
    store: Store, stored: Sequence[Stored], model: str, sums: dict[tuple[str, bool], Sum]
) -> str:
    """Add the same search with vectors to the sums; answers what it took."""
    scrub = partial(secrets.scrub, known=())
    found = await vectors.prepare(store, scrub, [one.project for one in stored], model)
    more, waits = await _ours(found.recall, stored, found.name)
    sums.update(more)
    turns = sum(len(one.turns) for one in stored)
    return (
        f" With vectors: {turns:,} of them were made in {found.seconds:.0f} s, and a question took "
        f"{_spread(waits)}."
    )


async def _ours(
    recall: Recall, stored: Sequence[Stored], name: str
) -> tuple[dict[tuple[str, bool], Sum], list[float]]:
    sums: dict[tuple[str, bool], Sum] = {}
    waits = []
    for one in stored:
        for asked in one.talk.questions:
            start = time.perf_counter()
            await recall.search(asked.text, Scope(one.project))
            waits.append(time.perf_counter() - start)
            shares = await _shares(recall, one, asked)
            sums.setdefault((name, one.talk.fitted), Sum()).add(shares)
    return sums, waits


async def _shares(recall: Recall, one: Stored, asked: Asked) -> list[float]:
    scope = Scope(one.project)
    ids = await recall.ranking(asked.text, scope, limit=max(DEPTHS))
    best = [one.turns[id].id for id in ids]
    shares = [_share(asked, best[:depth]) for depth in DEPTHS]
    gold = [turn for turn in one.talk.turns if turn.id in asked.gold]
    for budget in BUDGETS:
        answer = await recall.search(asked.text, scope, limit=MOST, chars=budget)
        told = "\n".join(f"{found.head}\n{found.text}" for found in answer.found)
        assert len(told) <= budget, (len(told), budget)
        shares.append(sum(turn.text.strip() in told for turn in gold) / len(gold))
    return shares


def _baseline(talk: Talk, asked: Asked, ranking: baselines.Ranking) -> list[float]:
    order = ranking(asked.text)
    best = [talk.turns[at].id for at in order]
    shares = [_share(asked, best[:depth]) for depth in DEPTHS]
    return shares + [_share(asked, _told(talk, order, budget)) for budget in BUDGETS]


def _told(talk: Talk, order: Sequence[int], budget: int) -> list[str]:
    """The turns that fit, one line each with its speaker; what does not fit is passed over."""
    told = []
    for at in order:
        turn = talk.turns[at]
        cost = len(turn.speaker) + len(turn.text) + 3
        if cost <= budget:
            told.append(turn.id)
            budget -= cost
    return told


def _share(asked: Asked, found: Sequence[str]) -> float:
    return len(asked.gold.intersection(found)) / len(asked.gold)


async def _speed_at_large(talks: Sequence[Talk]) -> str:
    """How long a question takes where one project has very many turns."""
    turns = [turn for talk in talks for turn in talk.turns]
    asked = [one.text for talk in talks for one in talk.questions][::8]
    with tempfile.TemporaryDirectory() as folder:
        store = await sqlite.open_store(Path(folder) / "mufakat.db")
        try:
            project = await store.write(
                partial(talking.ensure_project, path="/large", name="large")
            )
            for start in range(0, LARGE, len(turns)):
                for begin in range(0, min(len(turns), LARGE - start), 25):
                    some = turns[begin : begin + min(25, LARGE - start - begin)]
                    await store.write(partial(_session, project=project.id, turns=some))
            recall = Recall(store, partial(secrets.scrub, known=()), clock=time.monotonic)
            seconds = await _indexed(recall, [project.id])
            waits = [await _timed(recall, text, project.id) for text in asked]
        finally:
            await store.close()
    return (
        f"and {_spread(waits)} where one project has {LARGE:,} turns (indexed in {seconds:.0f} s)"
    )


async def _timed(recall: Recall, text: str, project: ProjectId) -> float:
    start = time.perf_counter()
    await recall.search(text, Scope(project))
    return time.perf_counter() - start


def _spread(waits: Sequence[float]) -> str:
    return f"{1000 * median(waits):.1f} ms (p95 {1000 * quantiles(waits, n=20)[-1]:.1f} ms)"


def _half(sums: dict[tuple[str, bool], Sum], fitted: bool) -> str:
    which = "even number, fitted" if fitted else "odd number, reported"
    ours = [name for name, half in sums if half == fitted and name not in BASELINES]
    names = [*ours, *BASELINES]
    count = sums[OURS, fitted].questions
    lines = [[name, *(f"{mean:.3f}" for mean in sums[name, fitted].means)] for name in names]
    title = f"### Conversations with an {which} ({count:,} questions)"
    return f"{title}\n\n{report.table(COLUMNS, lines)}"


def main(data: Path | None = None, model: str = "") -> str:
    """Run the whole measurement."""
    return asyncio.run(measure(data, model))
