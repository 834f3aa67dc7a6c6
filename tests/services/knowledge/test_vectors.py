"""Vectors beside words: filled in the background, fused, and never silently missing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from equipment.embedder import DIMS, SmallModel
from mufakat.core import quote
from mufakat.core.base import ConversationId, InvalidInput, NotFound, ProjectId, Unavailable
from mufakat.core.coordination.principal import Principal, Right
from mufakat.retrieval.embedding.space import MatrixSpace
from mufakat.services import branch_state
from mufakat.services.knowledge import vectors as module
from mufakat.services.knowledge.gathering import Gathering, Subject
from mufakat.services.knowledge.recall import Recall, Recalled, Scope
from mufakat.services.knowledge.vectors import Vectors
from mufakat.services.knowledge.vectors_job import VectorsJob
from services.conftest import House, house, project
from services.knowledge.test_recall import TOKEN, said, scope

pytest.importorskip("numpy", reason="no numpy")
__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio
ME = Principal(Right.OPERATOR, "person@host:abcdef")
SAID = (
    "The automobile is parked behind the house.",
    "Tea is ready.",
    "Postgres, because two servers share it.",
    *(f"Nothing in particular, number {n}: rain, wind {n * 7} and some snow." for n in range(40)),
)
QUESTION = "vehicle"
"""Its meaning was said; not one of its words was."""


class Clock:
    """Goes on by hand."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def made(
    house: House, model: SmallModel, clock: Callable[[], float] = time.monotonic
) -> tuple[Vectors, Recall]:
    app = house.app
    vectors = Vectors(app.store, model, app.scrub, space=MatrixSpace, clock=clock)
    recall = Recall(app.store, app.scrub, clock=time.monotonic, vectors=vectors, push_seconds=0.1)
    return vectors, recall


async def fill(recall: Recall, vectors: Vectors, where: ProjectId) -> None:
    await recall.catch_up(where)
    while await vectors.fill(where):
        pass


def texts(answer: Recalled) -> str:
    return "\n".join(one.text for one in answer.found)


async def test_what_no_word_finds_is_found_by_its_meaning(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    vectors, recall = made(house, SmallModel())
    await fill(recall, vectors, where.project)
    answer = await recall.search(QUESTION, where, limit=1)
    assert "automobile" in texts(answer)
    assert (answer.why, answer.found[0].why) == ("", "meaning")
    assert (await house.app.store.check(deep=True)).problems == ()


async def test_twin_without_vectors_it_is_not_found(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    assert (await house.app.knowledge.recall.search(QUESTION, where)).found == ()


async def test_without_a_model_the_ranking_is_the_one_of_words(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    plain = Recall(house.app.store, house.app.scrub, clock=time.monotonic)
    model = SmallModel()
    model.fails = Unavailable("It is gone.")
    _, failing = made(house, model)
    for question in ("why Postgres", "rain and snow", "tea 7", "number 21"):
        wanted = await plain.search(question, where)
        told = await failing.search(question, where)
        assert told.found == wanted.found
        assert wanted.why == ""
        assert told.why == "no vectors: It is gone"
        assert await plain.ranking(question, where) == await failing.ranking(question, where)


async def test_turns_that_have_none_yet_are_told(house: House) -> None:
    id = await said(house, *SAID)
    where = await scope(house, id)
    vectors, recall = made(house, SmallModel())
    await fill(recall, vectors, where.project)
    await house.app.talk.say(id, "A kitten came in.")
    answer = await recall.search("feline", where)
    assert answer.why.endswith("1 turns have no vectors yet")
    await fill(recall, vectors, where.project)
    answer = await recall.search("feline", where, limit=1)
    assert ("kitten" in texts(answer), answer.why) == (True, "")


async def test_names_and_secrets_never_reach_the_model(house: House) -> None:
    where = await scope(house, await said(house, *SAID, f"The key is {TOKEN}.", "x" * 9_000))
    model = SmallModel()
    vectors, recall = made(house, model)
    await fill(recall, vectors, where.project)
    assert any("The key is" in one for one in model.asked)
    await recall.search(f"Did human buy a vehicle with {TOKEN}?", where)
    assert model.asked[-1].startswith("Did buy a vehicle with")
    assert not any(TOKEN in one for one in model.asked)
    assert max(map(len, model.asked)) <= module.TEXT_CHARS


async def test_twin_without_the_scrub_a_secret_reaches_the_model(house: House) -> None:
    class Blind(Vectors):
        def __init__(self, *given: object, **more: object) -> None:
            super().__init__(*given, **more)  # type: ignore[arg-type]
            self._scrub = lambda text: type("Same", (), {"text": text})()  # type: ignore[assignment,return-value]

    where = await scope(house, await said(house, f"The key is {TOKEN}."))
    model = SmallModel()
    app = house.app
    blind = Blind(app.store, model, app.scrub, space=MatrixSpace, clock=time.monotonic)
    await fill(app.knowledge.recall, blind, where.project)
    assert any(TOKEN in one for one in model.asked)


async def test_another_model_makes_all_anew(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    vectors, recall = made(house, SmallModel())
    await fill(recall, vectors, where.project)
    other = SmallModel("other", dims=DIMS * 2)
    fresh, again = made(house, other)
    answer = await again.search(QUESTION, where)
    assert answer.why.endswith(f"{len(SAID)} turns have no vectors yet")
    await fill(again, fresh, where.project)
    assert "automobile" in texts(await again.search(QUESTION, where, limit=1))
    assert (await house.app.store.check(deep=True)).problems == ()


async def test_a_model_that_fails_is_left_alone_for_a_while(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    model, clock = SmallModel(), Clock()
    vectors, recall = made(house, model, clock)
    await recall.catch_up(where.project)
    model.fails = Unavailable("HTTP 500.")
    with pytest.raises(Unavailable, match="HTTP 500"):
        await vectors.fill(where.project)
    asked = len(model.asked)
    assert (await recall.search("tea", where)).why == "no vectors: HTTP 500"
    assert len(model.asked) == asked
    assert vectors.rests == module.FIRST_PAUSE
    clock.at += module.FIRST_PAUSE
    assert (await recall.search("tea", where)).why == "no vectors: HTTP 500"
    assert (len(model.asked), vectors.rests) == (asked + 1, 2 * module.FIRST_PAUSE)
    clock.at += 2 * module.FIRST_PAUSE
    model.fails = None
    await fill(recall, vectors, where.project)
    assert (await recall.search("tea", where)).why == ""
    assert (vectors.problem, vectors.rests) == ("", 0.0)


async def test_a_slow_model_does_not_hold_a_pack_up_and_the_receipt_says_so(house: House) -> None:
    id = await said(house, *SAID)
    where = await scope(house, id)
    model = SmallModel()
    vectors, recall = made(house, model)
    await fill(recall, vectors, where.project)
    model.seconds = 30.0
    subject = Subject(house.project, "Is tea ready?", where.project)
    gathering = Gathering({"retrieval": recall.pushed}, house.app.scrub, seconds=3)
    began = time.monotonic()
    known = await gathering.gather(subject, {"retrieval"})
    assert time.monotonic() - began < 3
    assert "Tea is ready." in known.of("retrieval")[0].text
    (gap,) = known.gaps
    assert (gap.source, gap.why) == ("retrieval", "no vectors: the model took longer than 100 ms")


async def test_a_text_that_is_refused_does_not_hold_up_the_others(house: House) -> None:
    nothing = quote.open_section("memory") + "All of it was told." + quote.close_section("memory")
    where = await scope(house, await said(house, "A poison text.", *SAID, nothing))
    model = SmallModel()
    model.refuses = "poison"
    vectors, recall = made(house, model)
    await fill(recall, vectors, where.project)
    answer = await recall.search(QUESTION, where, limit=1)
    assert ("automobile" in texts(answer), answer.why) == (True, "")


async def test_a_model_that_refuses_all_is_a_failure(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    model = SmallModel()
    vectors, recall = made(house, model)
    await recall.catch_up(where.project)
    model.refuses = " "
    with pytest.raises((InvalidInput, Unavailable)):
        await vectors.fill(where.project)
    assert "refused" in vectors.problem


async def test_a_model_that_cannot_be_used_is_a_reason(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    model = SmallModel()
    model.problem = "numpy not installed: install mufakat[vectors]"
    vectors, recall = made(house, model)
    answer = await recall.search("tea", where)
    assert answer.found
    assert answer.why == f"no vectors: {model.problem}"
    assert await vectors.probe() == model.problem


async def test_only_one_conversation_is_looked_in(house: House) -> None:
    first = await said(house, *SAID)
    second = await said(house, "A felt vehicle.", *(f"Other talk {n} of rain" for n in range(9)))
    where = await scope(house, first, conversations=(ConversationId(second),))
    vectors, recall = made(house, SmallModel())
    await fill(recall, vectors, where.project)
    answer = await recall.search("automobile", where)
    assert "felt vehicle" in texts(answer)
    assert "parked" not in texts(answer)


async def test_vectors_in_memory_are_bounded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 20)
    monkeypatch.setattr(module, "LOADED", 7)
    other = house.project.parent / "other"
    other.mkdir()
    first = await scope(house, await said(house, *SAID))
    second = await scope(house, await said(house, *SAID, folder=other))
    vectors, recall = made(house, SmallModel())
    for where in (first, second, first):
        await fill(recall, vectors, where.project)
        assert "automobile" in texts(await recall.search(QUESTION, where, limit=1))
        assert list(vectors._loaded) == [where.project]  # noqa: SLF001


@asynccontextmanager
async def running(house: House, model: SmallModel) -> AsyncIterator[tuple[Vectors, Recall]]:
    vectors, recall = made(house, model)
    job = VectorsJob(house.app.store, recall, vectors)
    job.start()
    try:
        yield vectors, recall
    finally:
        await job.close()


async def until(recall: Recall, where: Scope) -> None:
    """Wait until every turn has a vector."""
    for _ in range(400):
        if not (await recall.search("tea", where)).why:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("no vectors came")


async def test_the_job_fills_what_was_said_before_and_what_is_said_then(house: House) -> None:
    id = await said(house, *SAID)
    where = await scope(house, id)
    async with running(house, SmallModel()) as (_, recall):
        await until(recall, where)
        await house.app.talk.say(id, "A kitten came in.")
        await until(recall, where)
        assert "kitten" in texts(await recall.search("feline", where, limit=1))


async def test_the_job_goes_on_where_it_was_ended(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    model = SmallModel()
    vectors, recall = made(house, model)
    await recall.catch_up(where.project)
    assert await vectors.fill(where.project) == len(SAID) - module.BATCH
    async with running(house, SmallModel()) as (_, after):
        await until(after, where)
    assert (await house.app.store.check(deep=True)).problems == ()


async def test_the_job_outlives_a_model_that_fails(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.05)
    where = await scope(house, await said(house, *SAID))
    model = SmallModel()
    model.fails = Unavailable("HTTP 500.")
    async with running(house, model) as (_, recall):
        for _ in range(400):
            if model.asked:
                break
            await asyncio.sleep(0.01)
        model.fails = None
        await until(recall, where)


async def aside(house: House) -> tuple[Recall, Subject]:
    """Something is said in a branch alone; the subject stands in what it comes from."""
    id = await said(house, *SAID)
    where = await scope(house, id)
    branch = await house.app.branches.add(ME, id, at="m:1")
    await house.app.talk.say(branch.conversation.id, "A kitten came in.")
    vectors, recall = made(house, SmallModel())
    await fill(recall, vectors, where.project)
    return recall, Subject(house.project, "feline", where.project, id)


async def test_the_meaning_of_what_a_branch_says_is_not_found_outside_of_it(house: House) -> None:
    recall, subject = await aside(house)
    with pytest.raises(NotFound, match="Nothing was found"):
        await recall.pulled(subject)
    found = await recall.pulled(replace(subject, person=True))
    assert "kitten" in found[0].text
    assert "branch, open: " in found[0].head


async def test_twin_without_the_sight_of_branches_its_meaning_leaks(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall, subject = await aside(house)
    monkeypatch.setattr(branch_state, "sight", lambda *given, **more: {})
    assert "kitten" in (await recall.pulled(subject))[0].text
