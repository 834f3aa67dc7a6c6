"""What every store keeps: its records, subject by subject."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipment import store_records as make
from equipment.store_records import TALK, number, say, talk_of
from mufakat.core import base
from mufakat.core.base import AgentId, ConversationId, Event, PackId, ProjectId, Revision, TurnId
from mufakat.core.pack import item
from mufakat.core.talk.message import Kind
from mufakat.core.talk.turn import Failure, Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.store import Store, Transaction

from .conftest import Open

pytestmark = pytest.mark.anyio
LAST = 1 << 60


async def test_projects_are_one_a_path(store: Store) -> None:
    first = await store.write(lambda tx: tx.projects.ensure("/a", "a", id=ProjectId("p_1")))
    again = await store.write(lambda tx: tx.projects.ensure("/a", "other", id=ProjectId("p_2")))
    other = await store.write(lambda tx: tx.projects.ensure("/b", "b", id=ProjectId("p_3")))
    assert again == first
    assert await store.read(lambda tx: tx.projects.get(ProjectId("p_1"))) == first
    assert await store.read(lambda tx: tx.projects.get(ProjectId("p_2"))) is None
    assert list(await store.read(lambda tx: tx.projects.list())) == [first, other]


async def test_conversations_are_kept_listed_and_found(store: Store) -> None:
    def step(tx: Transaction) -> None:
        tx.projects.ensure("/a", "a", id=ProjectId("p_1"))
        tx.projects.ensure("/b", "b", id=ProjectId("p_2"))
        for n in range(6):
            project = ProjectId("p_1" if n < 5 else "p_2")
            tx.conversations.add(make.conversation(ConversationId(f"c_{n}"), project=project))

    await store.write(step)
    got = await store.read(lambda tx: tx.conversations.get(ConversationId("c_3")))
    assert got == make.conversation(ConversationId("c_3"))
    assert await store.read(lambda tx: tx.conversations.get(ConversationId("c_9"))) is None

    async def ids(**how: object) -> list[str]:
        return [c.id for c in await store.read(lambda tx: tx.conversations.list(**how))]

    assert await ids() == ["c_5", "c_4", "c_3", "c_2", "c_1", "c_0"]
    assert await ids(limit=2) == ["c_5", "c_4"]
    assert await ids(before="c_4", limit=2) == ["c_3", "c_2"]
    assert await ids(project="p_2") == ["c_5"]
    assert await ids(project="p_1", before="c_1") == ["c_0"]
    assert len(await store.read(lambda tx: tx.conversations.find("c_"))) == 6
    assert [c.id for c in await store.read(lambda tx: tx.conversations.find("c_2"))] == ["c_2"]
    assert not await store.read(lambda tx: tx.conversations.find("%"))


async def test_find_answers_ten_at_most(store: Store) -> None:
    def step(tx: Transaction) -> None:
        make.setup(tx)
        for n in range(12):
            tx.conversations.add(make.conversation(ConversationId(f"c_x{n:02d}")))

    await store.write(step)
    assert len(await store.read(lambda tx: tx.conversations.find("c_x"))) == 10


async def test_the_window_is_held(store: Store) -> None:
    await store.write(make.setup)
    await store.write(lambda tx: tx.conversations.hold_window(TALK, 17))
    got = await store.read(lambda tx: tx.conversations.get(TALK))
    assert got is not None and got.window_start == 17
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: tx.conversations.hold_window(ConversationId("c_no"), 1))


async def test_messages_are_numbered_counted_and_read_back(store: Store) -> None:
    await store.write(make.setup)
    draft = say(
        "ünï 😀\r\n\tcode",
        kind=Kind.TOOL_RESULT,
        speaker="claude@h:abcdef",
        secrets=("jwt", "aws-key-id"),
        pair="call-1",
        label="Bash: ls -la",
        turn=TurnId("t_1"),
    )
    first = await store.write(lambda tx: tx.messages.append(TALK, say("héllo"), id=number(1)))
    second = await store.write(lambda tx: tx.messages.append(TALK, draft, id=number(2)))
    assert (first.number, second.number) == (1, 2)
    assert await store.read(lambda tx: tx.messages.get(number(2))) == second
    assert (second.text, second.secrets, second.pair, second.label, second.turn) == (
        draft.text,
        draft.secrets,
        draft.pair,
        draft.label,
        draft.turn,
    )
    assert await store.read(lambda tx: tx.messages.get(number(3))) is None
    got = await store.read(lambda tx: tx.conversations.get(TALK))
    assert got is not None
    assert (got.messages, got.talk, got.chars) == (2, 1, 5 + len(draft.text))
    assert got.updated == second.at


async def test_message_numbers_are_of_their_conversation(store: Store) -> None:
    other = ConversationId("c_2")

    def step(tx: Transaction) -> list[int]:
        make.setup(tx)
        tx.conversations.add(make.conversation(other))
        where = [TALK, other, other, TALK, other]
        return [tx.messages.append(at, say("x"), id=number(n)).number for n, at in enumerate(where)]

    assert await store.write(step) == [1, 1, 2, 2, 3]


async def test_a_message_needs_its_conversation_and_a_new_id(store: Store) -> None:
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: tx.messages.append(TALK, say("x"), id=number(1)))
    await store.write(talk_of(1))
    with pytest.raises(base.Conflict):
        await store.write(lambda tx: tx.messages.append(TALK, say("y"), id=number(1)))
    got = await store.read(lambda tx: tx.conversations.get(TALK))
    assert got is not None and got.messages == 1


@pytest.mark.parametrize("text", ["a\0b", "lone \ud800 surrogate"])
async def test_texts_that_a_database_cannot_hold_are_refused(store: Store, text: str) -> None:
    await store.write(make.setup)
    with pytest.raises(base.InvalidInput):
        await store.write(lambda tx: tx.messages.append(TALK, say(text), id=number(1)))
    with pytest.raises(base.InvalidInput):
        await store.write(lambda tx: tx.packs.keep_text(text))
    assert not await store.read(lambda tx: tx.messages.page(TALK, after=0, limit=9))


async def test_a_digest_that_is_not_the_texts_is_refused(store: Store) -> None:
    await store.write(make.setup)
    wrong = replace(say("x"), digest="0" * 64)
    with pytest.raises(base.InvalidInput):
        await store.write(lambda tx: tx.messages.append(TALK, wrong, id=number(1)))


async def test_values_that_a_database_cannot_hold_are_refused(store: Store) -> None:
    await store.write(make.setup)
    with pytest.raises(base.InvalidInput):
        await store.write(lambda tx: tx.projects.ensure("/x", "\ud800", id=ProjectId("p_2")))
    with pytest.raises(base.InvalidInput):
        await store.read(lambda tx: tx.messages.page(TALK, after=1 << 80, limit=1))


async def test_newest_and_page_walk_the_whole_conversation(store: Store) -> None:
    await store.write(talk_of(25))

    def down(tx: Transaction) -> list[int]:
        seen, before = [], LAST
        while rows := tx.messages.newest(TALK, before=before, limit=7, clip=100):
            seen += [row.number for row in rows]
            before = rows[-1].number
        return seen

    def up(tx: Transaction) -> list[int]:
        seen, after = [], 0
        while rows := tx.messages.page(TALK, after=after, limit=7):
            seen += [row.number for row in rows]
            after = rows[-1].number
        return seen

    assert await store.read(down) == list(range(25, 0, -1))
    assert await store.read(up) == list(range(1, 26))


@pytest.mark.parametrize("letter", ["a", "é", "😀"])
async def test_long_texts_come_as_both_their_ends(store: Store, letter: str) -> None:
    text = "<begin>" + letter * 5000 + "<end>"
    await store.write(make.setup)
    kept = say(text, kind=Kind.AGENT, speaker="claude@h:abcdef")
    await store.write(lambda tx: tx.messages.append(TALK, kept, id=number(1)))

    def clipped(tx: Transaction, clip: int):
        return [
            tx.messages.newest(TALK, before=LAST, limit=1, clip=clip)[0],
            tx.messages.last_by_speaker(TALK, clip=clip)[0],
            tx.messages.last_of_kind(TALK, Kind.AGENT, limit=1, clip=clip)[0],
        ]

    for clip in (0, 1, 2, 3, 400, 3999, 4000, 4001, 4800):
        first = clip * 3 // 4
        for got in await store.read(lambda tx, clip=clip: clipped(tx, clip)):
            assert got.text == text[:first] + text[len(text) - clip + first :]
            assert (got.chars, got.whole) == (len(text), False)
    for got in await store.read(lambda tx: clipped(tx, len(text))):
        assert (got.text, got.whole) == (text, True)
    page = await store.read(lambda tx: tx.messages.page(TALK, after=0, limit=1))
    assert page[0].text == text


async def test_the_last_message_of_every_agent(store: Store) -> None:
    await store.write(talk_of(20))
    tool = say("out", kind=Kind.TOOL_RESULT, speaker="claude@h:000002")
    await store.write(lambda tx: tx.messages.append(TALK, tool, id=number(21)))
    found = await store.read(lambda tx: tx.messages.last_by_speaker(TALK, clip=100))
    assert [(row.speaker, row.number) for row in found] == [
        ("claude@h:000000", 20),
        ("claude@h:000002", 18),
    ]


async def test_the_last_of_a_kind(store: Store) -> None:
    await store.write(talk_of(9))
    found = await store.read(
        lambda tx: tx.messages.last_of_kind(TALK, Kind.PERSON, limit=3, clip=100)
    )
    assert [row.number for row in found] == [9, 7, 5]


async def test_agents_and_their_sessions(store: Store) -> None:
    one, two = make.agent("a_1"), make.agent("a_2", role="tester", identity="codex@h:ffffff")

    def step(tx: Transaction) -> None:
        make.setup(tx)
        tx.agents.add(one)
        tx.agents.add(two)

    await store.write(step)
    find = {"engine": "claude", "role": "tester", "persona": ""}
    assert await store.read(lambda tx: tx.agents.find(TALK, **find)) == two
    assert await store.read(lambda tx: tx.agents.find(TALK, **{**find, "role": "x"})) is None
    assert await store.read(lambda tx: tx.agents.get(AgentId("a_1"))) == one
    assert list(await store.read(lambda tx: tx.agents.list(TALK))) == [one, two]
    assert await store.read(lambda tx: tx.agents.identities("codex@")) == {"codex@h:ffffff"}
    assert await store.read(lambda tx: tx.agents.session(AgentId("a_1"))) is None
    for kept in (make.session(), make.session(id="s-2", told=frozenset())):
        await store.write(lambda tx, kept=kept: tx.agents.keep_session(kept))
        assert await store.read(lambda tx: tx.agents.session(AgentId("a_1"))) == kept
    await store.write(lambda tx: tx.agents.drop_session(AgentId("a_1")))
    assert await store.read(lambda tx: tx.agents.session(AgentId("a_1"))) is None


async def test_an_agent_is_one_engine_in_one_role(store: Store) -> None:
    await store.write(lambda tx: (make.setup(tx), tx.agents.add(make.agent("a_1"))))
    with pytest.raises(base.Conflict):
        await store.write(lambda tx: tx.agents.add(make.agent("a_2")))


def with_turns(*turns: object):
    def step(tx: Transaction) -> None:
        make.setup(tx)
        tx.agents.add(make.agent())
        for each in turns:
            tx.turns.add(each)  # type: ignore[arg-type]

    return step


async def test_a_turn_moves_by_the_table(store: Store) -> None:
    await store.write(with_turns(make.turn()))
    id = TurnId("t_1")
    started = await store.write(
        lambda tx: tx.turns.move(id, Status.RUNNING, pack=PackId("k_1"), process="run-7")
    )
    assert (started.status, started.pack, started.process) == (Status.RUNNING, "k_1", "run-7")
    assert started.started is not None and started.ended is None
    usage = Usage(10, 20, 30, 40, 0.25)
    ended = await store.write(
        lambda tx: tx.turns.move(id, Status.DONE, answer=number(2), usage=usage)
    )
    assert (ended.pack, ended.answer, ended.usage) == ("k_1", number(2), usage)
    assert ended.ended is not None
    assert await store.read(lambda tx: tx.turns.get(id)) == ended
    for to in Status:
        with pytest.raises(base.Conflict):
            await store.write(lambda tx, to=to: tx.turns.move(id, to))
    with pytest.raises(base.NotFound):
        await store.write(lambda tx: tx.turns.move(TurnId("t_no"), Status.RUNNING))
    assert await store.read(lambda tx: tx.turns.get(id)) == ended


async def test_a_failed_turn_says_why(store: Store) -> None:
    await store.write(with_turns(make.turn()))
    failed = await store.write(
        lambda tx: tx.turns.move(
            TurnId("t_1"), Status.FAILED, failure="rate_limit", message="slow down"
        )
    )
    assert (failed.failure, failed.message) == (Failure.RATE_LIMIT, "slow down")
    assert await store.read(lambda tx: tx.turns.get(TurnId("t_1"))) == failed


async def test_turns_are_listed_and_unfinished_ones_found(store: Store) -> None:
    states = [Status.QUEUED, Status.DONE, Status.RUNNING, Status.FAILED]
    turns = [make.turn(f"t_{n}", status=status) for n, status in enumerate(states)]
    await store.write(with_turns(*turns))
    assert list(await store.read(lambda tx: tx.turns.unfinished())) == [turns[0], turns[2]]
    assert list(await store.read(lambda tx: tx.turns.list())) == turns[::-1]
    assert list(await store.read(lambda tx: tx.turns.find("t_"))) == turns
    assert not await store.read(lambda tx: tx.turns.find("%"))
    page = await store.read(lambda tx: tx.turns.list(conversation=TALK, before="t_2", limit=1))
    assert list(page) == [turns[1]]
    assert not await store.read(lambda tx: tx.turns.list(conversation=ConversationId("c_no")))


async def test_packs_keep_their_receipt_and_each_text_once(store: Store) -> None:
    packs = [make.pack(f"k_{n}", text="the same section") for n in range(3)]

    def step(tx: Transaction) -> None:
        make.setup(tx)
        for each in packs:
            tx.packs.add(each, ["the same section"])

    await store.write(step)
    assert await store.read(lambda tx: tx.packs.get(PackId("k_1"))) == packs[1]
    assert await store.read(lambda tx: tx.packs.get(PackId("k_9"))) is None
    assert list(await store.read(lambda tx: tx.packs.list())) == packs[::-1]
    assert list(await store.read(lambda tx: tx.packs.list(conversation=TALK, limit=1))) == [
        packs[2]
    ]
    assert list(await store.read(lambda tx: tx.packs.find("k_0"))) == [packs[0]]
    digest = item.digest("the same section")
    assert await store.read(lambda tx: tx.packs.text(digest)) == "the same section"
    assert await store.read(lambda tx: tx.packs.text("0" * 64)) is None
    assert dict((await store.check()).facts)["texts"] == "1"


async def test_a_text_is_kept_under_its_hash(store: Store) -> None:
    assert await store.write(lambda tx: tx.packs.keep_text("süß")) == item.digest("süß")
    assert await store.write(lambda tx: tx.packs.keep_text("süß")) == item.digest("süß")
    assert await store.read(lambda tx: tx.packs.text(item.digest("süß"))) == "süß"


async def test_events_are_numbered_and_filtered(store: Store) -> None:
    def step(tx: Transaction) -> list[int]:
        return [
            tx.events.record(Event(kind, subject, {"n": n, "text": "ü"}))
            for n, (kind, subject) in enumerate(
                [("turn.started", "t_1"), ("text", "t_1"), ("text", "t_2"), ("turn.done", "t_1")]
            )
        ]

    assert await store.read(lambda tx: (tx.events.head(), tx.events.oldest())) == (0, 1)
    assert await store.write(step) == [1, 2, 3, 4]
    assert await store.read(lambda tx: (tx.events.head(), tx.events.oldest())) == (4, 1)

    async def revisions(after: int = 0, limit: int = 99, **how: object) -> list[int]:
        found = await store.read(lambda tx: tx.events.after(Revision(after), limit=limit, **how))
        return [event.revision for event in found]

    assert await revisions() == [1, 2, 3, 4]
    assert await revisions(after=1, limit=2) == [2, 3]
    assert await revisions(subject="t_1") == [1, 2, 4]
    assert await revisions(kinds=["text"]) == [2, 3]
    assert await revisions(subject="t_1", kinds=["text", "turn.done"], after=2) == [4]
    first = (await store.read(lambda tx: tx.events.after(Revision(0), limit=1)))[0]
    assert (first.kind, first.subject, first.data) == ("turn.started", "t_1", {"n": 0, "text": "ü"})


async def test_the_epoch_stays_over_a_restart(open_store: Open) -> None:
    store = await open_store(None)
    epoch = await store.read(lambda tx: tx.events.epoch())
    await store.close()
    store = await open_store(None)
    assert await store.read(lambda tx: tx.events.epoch()) == epoch
    await store.close()


async def test_an_idempotency_key_answers_its_first_result(store: Store) -> None:
    assert await store.read(lambda tx: tx.keys.find("key")) is None
    await store.write(lambda tx: tx.keys.keep("key", "digest", "result"))
    await store.write(lambda tx: tx.keys.keep("key", "digest", "result"))
    assert await store.read(lambda tx: tx.keys.find("key")) == ("digest", "result")
    with pytest.raises(base.IdempotencyConflict):
        await store.write(lambda tx: tx.keys.keep("key", "other", "result"))
    assert await store.read(lambda tx: tx.keys.find("key")) == ("digest", "result")
