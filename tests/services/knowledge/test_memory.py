"""The memory of a conversation: condensed by rule, told and searched."""

from __future__ import annotations

import pytest

from mufakat.core.base import ConversationId
from mufakat.core.knowledge.topic import BY_RULE
from mufakat.services.knowledge import condensing, memory
from mufakat.services.knowledge.gathering import Subject
from services.conftest import House, house, project
from services.knowledge.remembering import FACTS, filler, lines, more, talk

__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio


async def test_older_messages_become_topics_from_twelve_on(house: House) -> None:
    id = await talk(house, *FACTS, *filler(5))
    assert await lines(house, id) == []
    assert (await house.app.knowledge.memory.refresh(id)).waits_for == 1
    await more(house, id, *filler(1, 5))
    found = await lines(house, id)
    assert [line.text for line in found] == [one for one in FACTS if "thanks" not in one]
    assert [[source.number for source in line.sources] for line in found] == [
        [1],
        [2],
        [4],
        [5],
        [6],
    ]
    (said,) = {line.speaker for line in found}
    assert said.startswith("human@") and {line.author for line in found} == {BY_RULE}
    messages = await house.app.talk.messages(id, limit=60)
    assert [line.sources[0].id for line in found] == [messages[n].id for n in (0, 1, 3, 4, 5)]


async def test_case_004_not_again_before_six_new_messages(house: House) -> None:
    id = await talk(house, *FACTS, *filler(6))
    times = []
    for n in range(6, 30):
        before = len(await lines(house, id))
        await more(house, id, *filler(1, n))
        if len(await lines(house, id)) != before:
            times.append(n)
    assert times and all(b - a >= 6 for a, b in zip(times, times[1:], strict=False))


async def test_originals_stay_and_are_readable(house: House) -> None:
    id = await talk(house, *FACTS, *filler(30))
    said = await house.app.talk.messages(id, limit=100)
    assert [one.text for one in said] == [*FACTS, *filler(30)]


async def test_a_contradiction_supersedes_by_link_and_both_are_found(house: House) -> None:
    id = await talk(house, *FACTS, *filler(6))
    await more(house, id, "The staging port is 9000 now.", *filler(12, 6))
    old, new = [line for line in await lines(house, id) if "staging" in line.text]
    assert (old.superseded_by, new.supersedes) == (new.id, old.id)
    found = await house.app.knowledge.memory.search(id, "staging PORT")
    assert {line.id for line in found[:2]} == {old.id, new.id}
    ranked = await house.app.store.read(lambda tx: tx.topics.ranked(id))
    assert new.id in {line.id for line in ranked}
    assert old.id not in {line.id for line in ranked}


async def test_secrets_and_pack_text_are_not_remembered(house: House) -> None:
    key = "sk-ant-" + "a1B2c3D4" * 5
    told = "<mufakat:history>\nThe secret port of the pack is 7777.\n</mufakat:history>"
    id = await talk(house, f"The deploy key is {key} since Monday.", told, *FACTS, *filler(6))
    text = "\n".join(line.text for line in await lines(house, id))
    assert "deploy key" in text and key not in text and "[secret:" in text
    assert "7777" not in text and "mufakat:" not in text


async def test_twin_a_build_that_does_not_clean_remembers_them(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condensing, "cleaned", lambda tx, said, fence, *, scrub: said)
    key = "sk-ant-" + "a1B2c3D4" * 5
    id = await talk(house, f"The deploy key is {key} since Monday.", *FACTS, *filler(6))
    assert key in "\n".join(line.text for line in await lines(house, id))


async def test_a_pack_is_told_only_what_is_before_its_window(house: House) -> None:
    id = await talk(house, *FACTS, *filler(30))

    def told(start: int) -> list[str]:
        return [one.text for one in found[start]]

    found = {}
    for start in (1, 5, 20):
        await house.app.store.write(lambda tx, at=start: tx.conversations.hold_window(id, at))
        found[start] = await house.app.store.read(
            lambda tx: memory.facts(tx, tx.conversations.get(id))  # type: ignore[arg-type]
        )
    assert told(1) == []
    assert "8123" in "\n".join(told(5)) and "blue-7" not in "\n".join(told(5))
    assert "blue-7" in "\n".join(told(20))
    assert {one.source for one in found[20]} == {"memory"}
    assert all(one.id.startswith("memory:") and one.id in one.head for one in found[20])


def subject(house: House, query: str, id: str) -> Subject:
    return Subject(house.project, query, conversation=ConversationId(id))


async def test_a_pull_answers_a_topic_by_number_and_by_words(house: House) -> None:
    id = await talk(house, *FACTS, *filler(6))
    for query in ("memory:1", "1", "1.2", "which port does staging have?"):
        (one,) = await house.app.knowledge.memory.find(subject(house, query, id))
        assert "8123" in one.text
    for query in ("9", "nothing of that", "", "%", "the and of"):
        assert not await house.app.knowledge.memory.find(subject(house, query, id))
    assert not await house.app.knowledge.memory.find(Subject(house.project, "port"))
