"""Messages that are kept for who comes later: by alias, role, identity or topic."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mufakat.core import secrets
from mufakat.core.base import ConversationId, NotFound
from mufakat.core.coordination import newcomer
from mufakat.core.coordination.inbox import Delivery, Status
from mufakat.core.coordination.sending import Sending
from mufakat.ports.coordination import Member
from mufakat.ports.store import Transaction
from mufakat.services import talk
from mufakat.services.coordination import held, rooms
from mufakat.services.coordination.mailbox import Inbox
from services.coordination.crowd import crowd_in
from services.coordination.mail.conftest import ANN, BOB, CAT, PERSON, Office

pytestmark = pytest.mark.anyio

DAN, FAR = "codex@host:dddddd", "codex@far:dddddd"


async def thread(office: Office, title: str) -> str:
    talks = talk.Talk(office.store, secrets.scrub, person=PERSON)
    return (await talks.start(office.project, title)).id


async def kept(office: Office) -> list[Delivery]:
    return list(await office.store.read(lambda tx: tx.inbox.with_status(Status.HELD)))


@pytest.mark.parametrize("name", ["codex@host:dd", "codex@host:d", "codex@host:ddddd"])
async def test_m2_the_first_whose_identity_begins_so_gets_it(office: Office, name: str) -> None:
    sent = await office.send(ANN, name, "welcome", hold=True)
    assert (sent.recipients, sent.held) == ((), (name,))
    await office.join(FAR)
    assert await office.texts(FAR) == []
    await office.join(DAN)
    assert await office.texts(DAN) == ["welcome"]
    assert await kept(office) == []
    await office.join("codex@host:dd0000")
    assert await office.texts("codex@host:dd0000") == []


async def test_m2_a_whole_identity_that_nobody_has_is_refused(office: Office) -> None:
    with pytest.raises(NotFound):
        await office.send(ANN, DAN, "welcome", hold=True)
    assert await kept(office) == []


async def test_m2_a_topic_that_comes_later_reaches_who_follows_it(office: Office) -> None:
    sent = await office.send(ANN, "topic:Release", "freeze at noon", hold=True)
    assert (sent.recipients, sent.held) == ((), ("topic:Release",))
    other, release = await thread(office, "Other"), await thread(office, "release")
    await office.follow(BOB, other)
    assert await office.texts(BOB) == []
    await office.follow(BOB, release)
    assert await office.texts(BOB) == ["freeze at noon"]
    await office.follow(CAT, release)
    assert await office.texts(CAT) == [], "it was kept for the first to come, as every name"
    assert await kept(office) == []


async def test_m2_a_topic_that_nobody_follows_keeps_it_in_its_own_thread(office: Office) -> None:
    release = await thread(office, "Release")
    sent = await office.send(ANN, "topic:Release", "freeze at noon", hold=True)
    assert (sent.held, sent.conversation) == (("topic:Release",), release)
    await office.send(ANN, (), "anybody?", thread=release)
    assert await office.texts(ANN) == [], "who sent it is not who it was kept for"
    await office.follow(BOB, release)
    assert await office.texts(BOB) == ["freeze at noon"]


async def test_m2_speaking_in_a_thread_is_following_it(office: Office) -> None:
    await office.send(ANN, "topic:Release", "freeze at noon", hold=True)
    release = await thread(office, "Release")
    await office.send(BOB, (), "I am here.", thread=release)
    assert await office.texts(BOB) == ["freeze at noon"]


async def test_m2_the_room_of_a_project_is_a_topic_too(office: Office) -> None:
    await office.send(ANN, f"topic:{rooms.TITLE}", "hello all", hold=True)
    dan = await office.join(DAN)
    await office.store.write(lambda tx: rooms.follow(tx, dan))
    assert await office.texts(DAN) == ["hello all"]


async def test_m2_a_session_that_joins_with_its_threads_gets_both(tmp_path: Path) -> None:
    async with crowd_in(tmp_path / "home", tmp_path) as crowd:
        _, ann = await crowd.join("claude")
        talks = talk.Talk(crowd.store, secrets.scrub, person=crowd.person.identity)
        release = (await talks.start(str(tmp_path), "Release")).id
        mail = Inbox(crowd.store, secrets.scrub)
        for name in ("topic:Release", "gemini@"):
            wanted = Sending((name,), body=name, hold=True, project=ann.project or "")
            await mail.send(crowd.person, wanted, key=name)
        by, _ = await crowd.join("gemini", threads=(release,))
        told = [letter.text for letter in await mail.read(by)]
        assert told == ["topic:Release", "gemini@"]


async def test_m2_what_is_kept_stays_in_its_project(office: Office, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    talks = talk.Talk(office.store, secrets.scrub, person=PERSON)
    theirs = await talks.start(str(other), "Release")
    for name in ("topic:Release", "codex@host:d"):
        await office.send(ANN, name, "ours", hold=True)
    await office.join(DAN, project=theirs.project)
    await office.follow(DAN, theirs.id)
    assert await office.texts(DAN) == []
    await office.join("codex@host:d11111", project=None)
    await office.follow("codex@host:d11111", theirs.id)
    assert await office.texts("codex@host:d11111") == ["ours"], "by its name alone"
    assert len(await kept(office)) == 1


@pytest.mark.parametrize("name", ["Nora", "role:tester", "topic:Release"])
async def test_nobody_gets_what_it_sent_itself(office: Office, name: str) -> None:
    await office.send(ANN, name, "welcome", hold=True)
    release = await thread(office, "Release")
    named = dataclasses.replace(await office.instance(ANN), alias="Nora", role="tester")

    def again(tx: Transaction) -> None:
        tx.instances.keep(named)
        held.follow(tx, Member(ConversationId(release), ANN, 0))
        held.arrived(tx, named)

    await office.store.write(again)
    assert await office.texts(ANN) == []
    assert len(await kept(office)) == 1


async def test_a_week_later_it_is_over_whoever_comes(office: Office) -> None:
    await office.send(ANN, "topic:Release", "freeze", hold=True)
    await office.send(ANN, "codex@host:d", "freeze", hold=True)
    await office.pass_time(7 * 86_400 + 1)
    assert len(await office.texts(ANN)) == 2, "its sender is told of each"
    release = await thread(office, "Release")
    await office.join(DAN)
    await office.follow(DAN, release)
    assert await office.texts(DAN) == []


def only_alias_and_role(patch: pytest.MonkeyPatch) -> None:
    real = newcomer.meant
    plain = ("role:",)
    patch.setattr(
        newcomer,
        "meant",
        lambda name, one: (name == one.alias or name.startswith(plain)) and real(name, one),
    )


def looks_at_titles_of_every_project(patch: pytest.MonkeyPatch) -> None:
    real = held._as  # noqa: SLF001

    def loose(instance, followed, project):
        first = followed[0].project if followed else project
        return real(instance, followed, first)

    patch.setattr(held, "_as", loose)


def forgets_who_follows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(held, "follow", lambda tx, member: tx.members.join(member))


Fault = Callable[[pytest.MonkeyPatch], None]
Test = Callable[[Office], Awaitable[None]]


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        (only_alias_and_role, test_m2_a_topic_that_comes_later_reaches_who_follows_it),
        (forgets_who_follows, test_m2_speaking_in_a_thread_is_following_it),
    ],
)
async def test_twin_a_build_with_this_fault_loses_it(
    office: Office, fault: Fault, test: Test, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        await test(office)


async def test_twin_a_build_that_mixes_projects_tells_it_elsewhere(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks_at_titles_of_every_project(monkeypatch)
    with pytest.raises(AssertionError):
        await test_m2_what_is_kept_stays_in_its_project(office, tmp_path)
