"""Memory: nothing is invented, nothing comes back again and again, the latest word holds."""

from __future__ import annotations

import pytest

from mufakat.core.base import ConversationId
from mufakat.core.knowledge import contradiction, extract, hysteresis
from mufakat.core.knowledge.topic import Line
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.engine import Run
from mufakat.ports.store import Transaction
from mufakat.services.knowledge import condensing
from mufakat.services.request import Ask
from services.conftest import INLINE, House, Puppet, answers

pytestmark = pytest.mark.anyio
RULE = "Migrations run with `make migrate`, never by hand, because of the lock on table orders."
WORK = "File number_{n}.py holds {n} functions and its {n} tests pass now."


async def said(house: House, *texts: str, id: str = "") -> str:
    """Say something in a conversation, and condense what has become old."""
    id = id or (await house.app.talk.start(str(house.project), "Memory")).id
    for text in texts:
        await house.app.talk.say(id, text)
    await house.app.knowledge.memory.refresh(id)
    return id


def work(count: int, start: int = 0) -> list[str]:
    return [WORK.format(n=n) for n in range(start, start + count)]


async def lines(house: House, id: str) -> list[Line]:
    topics = await house.app.knowledge.memory.topics(id, limit=200)
    return [line for one in topics for line in one.lines]


async def told(house: House, id: str, prompt: str = "Go on.") -> str:
    ask = Ask(prompt, str(house.project), id, engine="one")
    return (await house.app.turns.preview(ask)).user


async def hold(house: House, id: str, start: int) -> None:
    """Let the window of the newest pack begin at a message."""
    of = ConversationId(id)
    await house.app.store.write(lambda tx: tx.conversations.hold_window(of, start))


async def conversation(house: House, id: str) -> Conversation:
    return await house.app.talk.conversation(id)


async def test_case_007_how_we_work_here_outlives_its_message_in_the_window(house: House) -> None:
    house.seat(Puppet("one", answers, INLINE))
    long = [f"{WORK.format(n=n)} {'lorem ipsum ' * 250}" for n in range(40)]
    id = await said(house, RULE, *long)
    await hold(house, id, (await conversation(house, id)).messages - 8)
    pack = await told(house, id)
    section = pack.partition("<mufakat:memory>")[2].partition("</mufakat:memory>")[0]
    assert RULE in section and "m:1: " in section and "memory:1 " in section
    assert len(section) <= 4_000


async def test_case_007_twin_a_build_without_memory_forgets_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hysteresis, "due", lambda fresh: ())
    house.seat(Puppet("one", answers, INLINE))
    long = [f"{WORK.format(n=n)} {'lorem ipsum ' * 250}" for n in range(40)]
    id = await said(house, RULE, *long)
    await hold(house, id, (await conversation(house, id)).messages - 8)
    assert RULE not in await told(house, id)


async def test_case_008_details_are_kept_with_their_messages_and_pulled(house: House) -> None:
    details = [
        "The invoice service listens on blue-7:8443 since 2026-11-02.",
        "Decision: we reject MySQL because replication lost rows in test_sync.py.",
    ]
    id = await said(house, *details, *work(16))
    texts = {line.text: line.sources[0].number for line in await lines(house, id)}
    assert {texts[one] for one in details} == {1, 2}
    found = await house.app.knowledge.memory.search(id, "invoice service")
    assert found[0].text == details[0]


async def test_case_004_a_conversation_is_not_condensed_with_every_message(house: House) -> None:
    id = await said(house, *work(12))
    for n in range(12, 60):
        await said(house, WORK.format(n=n), id=id)
    events = await house.app.feed.after(0, limit=2_000, kinds=("memory.compressed",))
    assert 1 < len(events) <= 1 + (60 - 12) // 6


async def test_case_020_everybody_sees_that_a_memory_was_made(house: House) -> None:
    id = await said(house, *work(14))
    events = await house.app.feed.after(0, limit=2_000, kinds=("memory.compressed",))
    assert sum(one.data["messages"] for one in events) == 8
    assert {one.subject for one in events} == {id}


async def parrots(run: Run, on_event, cancel):
    """An agent that says again all that it was told."""
    reply = await answers(run, on_event, cancel)
    words = f"{run.delivery.user}\nI was told that: {RULE}"
    return type(reply)(reply.status, text=words, session=reply.session)


async def test_case_106_what_agents_repeat_of_their_packs_is_not_remembered(house: House) -> None:
    house.seat(Puppet("one", parrots, INLINE))
    id = await said(house, RULE, *work(12))
    for n in range(14):
        await house.ask(f"Ask number {n} about module_{n}.", engine="one", conversation=id)
    await house.app.knowledge.memory.refresh(id)
    found = await lines(house, id)
    assert len([one for one in found if "make migrate" in one.text]) == 1
    texts = " ".join(one.text for one in found)
    assert "mufakat:" not in texts and "pack text left out" not in texts
    assert len(texts) < 6_000


async def test_case_106_twin_a_build_that_takes_what_packs_said_fills_up_with_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condensing, "cleaned", lambda tx, said, fence, *, scrub: said)
    monkeypatch.setattr(extract, "new", lambda stated, known: iter(stated))
    house.seat(Puppet("one", parrots, INLINE))
    id = await said(house, RULE, *work(12))
    for n in range(14):
        await house.ask(f"Ask number {n} about module_{n}.", engine="one", conversation=id)
    await house.app.knowledge.memory.refresh(id)
    found = await lines(house, id)
    assert len([one for one in found if "make migrate" in one.text]) > 3


async def test_case_106_every_line_names_a_message_that_says_it(house: House) -> None:
    id = await said(house, RULE, *work(30))
    messages = {one.id: one for one in await house.app.talk.messages(id, limit=100)}
    found = await lines(house, id)
    assert found
    for line in found:
        (source,) = line.sources
        assert line.text in messages[source.id].text
        assert line.speaker == messages[source.id].speaker


CONTRADICTIONS = {
    "english": ("The database is PostgreSQL.", "We switch from PostgreSQL to MySQL."),
    "chinese": ("我们的数据库是PostgreSQL。", "我们的数据库改为MySQL。"),
    "korean": ("데이터베이스는 PostgreSQL입니다.", "데이터베이스는 MySQL입니다."),
    "malay": ("Pangkalan data ialah PostgreSQL.", "Pangkalan data ialah MySQL."),
}


def by_text(tx: Transaction, id: str) -> dict[str, Line]:
    topics = tx.topics.list(ConversationId(id), limit=200)
    return {line.text: line for one in topics for line in one.lines}


@pytest.mark.parametrize("language", CONTRADICTIONS)
async def test_case_109_the_latest_word_holds_and_the_old_one_is_found(
    house: House, language: str
) -> None:
    old, new = CONTRADICTIONS[language]
    id = await said(house, old, *work(12), new, *work(12, 12))
    known = await house.app.store.read(lambda tx: by_text(tx, id))
    before, after = known[old], known[new]
    assert (before.superseded_by, after.supersedes) == (after.id, before.id)
    found = await house.app.knowledge.memory.search(id, "postgresql mysql")
    assert {before.id, after.id} <= {line.id for line in found}
    ranked = await house.app.store.read(lambda tx: tx.topics.ranked(ConversationId(id)))
    assert after.id in {one.id for one in ranked} and before.id not in {one.id for one in ranked}


async def test_case_108_twin_a_build_without_the_rule_tells_both(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contradiction, "contradicts", lambda *_, **__: False)
    old, new = CONTRADICTIONS["english"]
    id = await said(house, old, *work(12), new, *work(12, 12))
    ranked = await house.app.store.read(lambda tx: tx.topics.ranked(ConversationId(id)))
    assert {old, new} <= {one.text for one in ranked}


async def test_case_108_a_contradiction_deletes_nothing(house: House) -> None:
    old, new = CONTRADICTIONS["english"]
    id = await said(house, old, *work(12), new, *work(12, 12))
    known = await house.app.store.read(lambda tx: by_text(tx, id))
    assert {old, new} <= set(known)
    texts = [one.text for one in await house.app.talk.messages(id, limit=100)]
    assert {old, new} <= set(texts)
