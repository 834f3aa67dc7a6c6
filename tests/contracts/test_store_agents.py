"""What every store keeps of those who take part: agents, threads, gates, notices, rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from equipment import coordination_records as make
from equipment import store_records
from equipment.coordination_records import ALICE, BOB
from equipment.store_records import PROJECT, TALK
from mufakat.core import base
from mufakat.core.base import ConversationId, Millis, ProjectId
from mufakat.core.coordination.gate import Turn
from mufakat.core.coordination.notice import Notice
from mufakat.core.coordination.state import Standing, State
from mufakat.ports.coordination import Credential, Life, Member
from mufakat.ports.store import Store, Transaction

pytestmark = pytest.mark.anyio
OTHER = ProjectId("p_2")
OFFLINE = Standing(State.OFFLINE, Millis(1))


async def test_an_instance_is_kept_whole_and_changed(store: Store) -> None:
    await store.write(store_records.setup)
    first = make.full_instance()
    await store.write(lambda tx: tx.instances.keep(first))
    assert await store.read(lambda tx: tx.instances.get(ALICE)) == first
    second = replace(first, alias="x", epoch=8, project=None, standing=OFFLINE, seen=Millis(10))
    await store.write(lambda tx: tx.instances.keep(second))
    assert await store.read(lambda tx: tx.instances.get(ALICE)) == second
    assert await store.read(lambda tx: tx.instances.get(BOB)) is None


async def test_instances_are_found_by_prefix_alias_and_session(store: Store) -> None:
    def step(tx: Transaction) -> None:
        store_records.setup(tx)
        for n in range(12):
            bound = make.Binding(session=f"s-{n % 2}")
            who = make.instance(f"claude@host:{n:06x}", alias=f"alias {n % 3}", binding=bound)
            tx.instances.keep(replace(who, created=Millis(n)))
        tx.instances.keep(make.instance("codex@host:000001", alias="alias 1"))

    await store.write(step)

    async def ids(query) -> list[str]:
        return [one.identity for one in await store.read(query)]

    assert len(await ids(lambda tx: tx.instances.find("claude@"))) == 10
    assert await ids(lambda tx: tx.instances.find("claude@host:00000b")) == ["claude@host:00000b"]
    assert await ids(lambda tx: tx.instances.find("co")) == ["codex@host:000001"]
    assert not await ids(lambda tx: tx.instances.find("%"))
    named = await ids(lambda tx: tx.instances.named("alias 1"))
    assert named == [*(f"claude@host:{n:06x}" for n in (1, 4, 7, 10)), "codex@host:000001"]
    newest = await store.read(lambda tx: tx.instances.by_session("claude", "host", session="s-1"))
    assert newest is not None and newest.identity == "claude@host:00000b"
    for engine, host, session in (
        ("codex", "host", "s-1"),
        ("claude", "other", "s-1"),
        ("claude", "host", "s-9"),
    ):
        assert not await store.read(
            lambda tx, e=engine, h=host, s=session: tx.instances.by_session(e, h, session=s)
        )


async def test_instances_are_listed_by_their_newest_call(store: Store) -> None:
    def step(tx: Transaction) -> None:
        store_records.setup(tx)
        tx.projects.ensure("/srv/other", "other", id=OTHER)
        for n in range(6):
            gone = OFFLINE if n % 3 == 0 else Standing(State.WORKING, Millis(1))
            who = make.instance(f"a@h:00000{n}", seen=Millis(n), standing=gone)
            where = (PROJECT, OTHER, None)[n % 3] if n else OTHER
            tx.instances.keep(replace(who, project=where, role="ab"[n % 2]))

    await store.write(step)

    async def numbers(query) -> list[int]:
        return [int(one.identity[-1]) for one in await store.read(query)]

    assert await numbers(lambda tx: tx.instances.list()) == [5, 4, 3, 2, 1, 0]
    assert await numbers(lambda tx: tx.instances.list(limit=2)) == [5, 4]
    assert await numbers(lambda tx: tx.instances.list(online=True)) == [5, 4, 2, 1]
    assert await numbers(lambda tx: tx.instances.list(project=OTHER)) == [4, 1, 0]
    assert await numbers(lambda tx: tx.instances.list(project=OTHER, online=True)) == [4, 1]
    assert await numbers(lambda tx: tx.instances.in_role("b", project=None)) == [5, 1]
    assert await numbers(lambda tx: tx.instances.in_role("b", project=OTHER)) == [1]
    assert await numbers(lambda tx: tx.instances.in_role("a", project=PROJECT)) == []


async def test_m5_the_counters_of_an_inbox_never_fall(store: Store) -> None:
    await store.write(make.join)
    before = await store.read(lambda tx: tx.instances.get(BOB))
    assert before is not None
    await store.write(lambda tx: [make.post(tx, n) for n in (1, 2, 3)])
    await store.write(lambda tx: tx.instances.keep(replace(before, acked=2, alias="old news")))
    await store.write(lambda tx: tx.instances.keep(before))
    after = await store.read(lambda tx: tx.instances.get(BOB))
    assert after is not None and (after.inbox_head, after.acked, after.alias) == (3, 2, "")
    assert not (await store.check(deep=True)).problems


async def test_credentials_live_until_they_are_ended(store: Store) -> None:
    await store.write(make.join)
    ends = {"aa": "", "bb": "run-1", "cc": "run-2"}

    def add(tx: Transaction) -> None:
        for digest, run in ends.items():
            tx.credentials.add(Credential(digest, ALICE, 2, Life.LIVE, run, Millis(4)))
        tx.credentials.add(Credential("dd", BOB, 1, Life.LIVE))

    await store.write(add)
    got = await store.read(lambda tx: tx.credentials.get("bb"))
    assert got == Credential("bb", ALICE, 2, Life.LIVE, "run-1", Millis(4))
    assert await store.read(lambda tx: tx.credentials.get("ee")) is None
    end = lambda life, **how: lambda tx: tx.credentials.end(ALICE, life, **how)  # noqa: E731
    assert await store.write(end(Life.REVOKED, run="run-1")) == 1
    assert await store.write(end(Life.REVOKED, run="run-1")) == 0
    assert await store.write(end(Life.SUPERSEDED)) == 2

    def lives(tx: Transaction) -> list[Life]:
        found = [tx.credentials.get(digest) for digest in (*ends, "dd")]
        return [one.life for one in found if one is not None]

    superseded = Life.SUPERSEDED
    assert await store.read(lives) == [superseded, Life.REVOKED, superseded, Life.LIVE]
    with pytest.raises(base.Conflict):
        await store.write(add)
    with pytest.raises(base.Conflict):
        await store.write(lambda tx: tx.credentials.add(Credential("ff", "x@y:0", 1, Life.LIVE)))


async def test_members_follow_threads_and_cursors_only_rise(store: Store) -> None:
    second = ConversationId("c_2")

    def step(tx: Transaction) -> None:
        make.join(tx)
        tx.conversations.add(store_records.conversation(second))
        for talk in (second, TALK):
            tx.members.join(Member(talk, ALICE, 3))
        assert tx.members.join(Member(TALK, BOB, 0))
        assert not tx.members.join(Member(TALK, ALICE, 99))
        tx.members.told(TALK, ALICE, cursor=5)
        tx.members.told(TALK, ALICE, cursor=4)

    await store.write(step)
    threads = await store.read(lambda tx: tx.members.threads(ALICE))
    assert list(threads) == [Member(TALK, ALICE, 5), Member(second, ALICE, 3)]
    assert list(await store.read(lambda tx: tx.members.of(TALK))) == [
        Member(TALK, ALICE, 5),
        Member(TALK, BOB, 0),
    ]
    await store.write(lambda tx: tx.members.leave(TALK, ALICE))
    await store.write(lambda tx: tx.members.leave(TALK, ALICE))
    assert [m.identity for m in await store.read(lambda tx: tx.members.of(TALK))] == [BOB]


async def test_g3_gates_count_by_session_and_turn(store: Store) -> None:
    await store.write(make.join)
    turn = Turn(ALICE, "s-1", "t-1", 1, 7, Millis(5))
    again = replace(turn, blocks=2, seen=9, at=Millis(6))
    await store.write(lambda tx: tx.gates.keep(turn))
    await store.write(lambda tx: tx.gates.keep(replace(turn, turn="t-2")))
    await store.write(lambda tx: tx.gates.keep(again))
    get = lambda turn: lambda tx: tx.gates.get(ALICE, session="s-1", turn=turn)  # noqa: E731
    assert await store.read(get("t-1")) == again
    assert await store.read(get("t-2")) == replace(turn, turn="t-2")
    assert await store.read(get("t-3")) is None


async def test_notices_are_the_newest_of_their_key_until_they_expire(store: Store) -> None:
    def notice(key: str, at: int, expires: int, project: ProjectId = PROJECT) -> Notice:
        return Notice(project, key, f"{key} at {at} é", ALICE, Millis(at), Millis(expires))

    staging, rollback = notice("staging", 1, 50), notice("rollback", 2, 90)
    newer = notice("staging", 3, 60)

    def step(tx: Transaction) -> None:
        store_records.setup(tx)
        for one in (staging, rollback, newer, notice("other", 4, 99, OTHER)):
            tx.notices.keep(one)

    await store.write(step)

    async def live(now: int) -> list[Notice]:
        return list(await store.read(lambda tx: tx.notices.live(PROJECT, Millis(now))))

    assert await live(59) == [newer, rollback]
    assert await live(60) == [rollback]
    assert await live(90) == []
    assert await store.write(lambda tx: tx.notices.drop(PROJECT, "staging")) is True
    assert await store.write(lambda tx: tx.notices.drop(PROJECT, "staging")) is False
    assert await live(5) == [rollback]


async def test_reactions_are_active_until_nothing_is_left_to_do(store: Store) -> None:
    first, second = make.reaction("r_1"), make.reaction("r_2", created=Millis(2), once=False)
    await store.write(lambda tx: [tx.reactions.keep(one) for one in (first, second)])
    assert await store.read(lambda tx: tx.reactions.get("r_1")) == first
    assert await store.read(lambda tx: tx.reactions.get("r_9")) is None
    active = lambda tx: list(tx.reactions.active())  # noqa: E731
    assert await store.read(active) == [second, first]
    fired = replace(second, fired=("a/b/1",), pending=("a/b/1",), done=True)
    await store.write(lambda tx: tx.reactions.keep(fired))
    assert await store.read(active) == [fired, first]
    await store.write(lambda tx: tx.reactions.keep(replace(fired, pending=())))
    assert await store.read(active) == [first]


async def test_a_project_has_one_room(store: Store) -> None:
    second = ConversationId("c_2")
    await store.write(store_records.setup)
    await store.write(lambda tx: tx.conversations.add(store_records.conversation(second)))
    assert await store.read(lambda tx: tx.rooms.get(PROJECT)) is None
    for talk in (TALK, second):
        await store.write(lambda tx, talk=talk: tx.rooms.keep(PROJECT, talk))
        assert await store.read(lambda tx: tx.rooms.get(PROJECT)) == talk
