"""A project in which a hundred thousand turns were said: a question stays quick, and finds them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import quantiles

import pytest

from mufakat.core import secrets
from mufakat.core.base import ProjectId
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.ports.store import Transaction
from mufakat.services import talk as talking
from mufakat.services.knowledge.recall import Recall, Scope
from mufakat.storage import store as sqlite

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]
TURNS, SESSION = 100_000, 25
WORDS = 30_000
SECONDS = 0.010
"""What 95 of 100 questions take at most, on an idle machine."""


class Vocabulary:
    """Made-up words, as rare as those of real talk: Zipf's law."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        letters = ("bcdfghklmnprstvw", "aeiou")
        self.words = [
            "".join(chance.choice(letters[at % 2]) for at in range(chance.randint(5, 10)))
            for _ in range(WORDS)
        ]
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(WORDS)))

    def turn(self) -> str:
        count = max(2, int(self._chance.expovariate(1 / 20)))
        return " ".join(self._chance.choices(self.words, cum_weights=self._weights, k=count))

    def question(self) -> str:
        """Some common words, some rarer ones."""
        common = self._chance.choices(self.words, cum_weights=self._weights, k=5)
        return " ".join([*common, *self._chance.choices(self.words[200:8_000], k=2)]) + "?"


def sessions(vocabulary: Vocabulary) -> Iterator[list[str]]:
    for _ in range(0, TURNS, SESSION):
        yield [vocabulary.turn() for _ in range(SESSION)]


def add(tx: Transaction, project: ProjectId, *, texts: Sequence[str]) -> None:
    home = tx.projects.get(project)
    assert home is not None
    thread = talking.add(tx, home, "Session")
    for at, text in enumerate(texts):
        talking.append(tx, thread.id, message.draft(Kind.PERSON, f"speaker-{at % 2}", text=text))


@pytest.fixture
async def filled(tmp_path: Path) -> AsyncIterator[tuple[Recall, Scope, Vocabulary]]:
    seed = random.randrange(2**32)
    print("seed", seed)
    vocabulary = Vocabulary(random.Random(seed))
    store = await sqlite.open_store(tmp_path / "mufakat.db")
    try:
        project = await store.write(partial(talking.ensure_project, path="/large", name="large"))
        waiting = [
            store.write(partial(add, project=project.id, texts=texts))
            for texts in sessions(vocabulary)
        ]
        await asyncio.gather(*waiting)
        recall = Recall(store, partial(secrets.scrub, known=()), clock=time.monotonic)
        assert await recall.catch_up(project.id, seconds=300) == 0
        yield recall, Scope(project.id), vocabulary
    finally:
        await store.close()


async def test_a_question_to_a_hundred_thousand_turns_is_quick(
    filled: tuple[Recall, Scope, Vocabulary],
) -> None:
    recall, scope, vocabulary = filled
    waits = []
    for _ in range(200):
        question = vocabulary.question()
        start = time.perf_counter()
        answer = await recall.search(question, scope)
        waits.append(time.perf_counter() - start)
        assert answer.found, question
    spread = quantiles(waits, n=20)
    print(f"median {1000 * spread[9]:.1f} ms, p95 {1000 * spread[-1]:.1f} ms")
    assert spread[-1] < 3 * SECONDS
