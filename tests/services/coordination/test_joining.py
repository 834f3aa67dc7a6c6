"""Joining, coming back, leaving: names, bearers, and who may speak as whom."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mufakat.core.base import (
    Conflict,
    InvalidInput,
    MufakatError,
    NotAllowed,
    NotFound,
    Paused,
    Superseded,
    Unauthenticated,
)
from mufakat.core.coordination import identity
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import On, State
from mufakat.ports.coordination import Life
from mufakat.services.coordination import credentials
from mufakat.services.coordination.agents import Joining
from services.coordination.crowd import JOIN_TOKEN, JOINER, PERSON, Crowd, crowd_in

pytestmark = pytest.mark.anyio


@pytest.fixture
async def crowd(tmp_path: Path) -> AsyncIterator[Crowd]:
    async with crowd_in(tmp_path / "home", tmp_path) as opened:
        yield opened


async def test_joining_gives_an_identity_and_a_bearer(crowd: Crowd) -> None:
    by, instance = await crowd.join("claude", role="reviewer", alias="critic", session="s-1")
    assert identity.parse(instance.identity) and instance.identity.startswith("claude@box:")
    assert by == Principal(Right.AGENT, instance.identity, epoch=1)
    assert instance.standing.state is State.STARTING and instance.standing.run
    assert (instance.role, instance.alias) == ("reviewer", "critic")
    kinds = [event.kind for event in await crowd.events() if event.subject == instance.identity]
    assert kinds == ["agent.joined", "agent.state"]


async def test_a_bearer_is_stored_as_its_hash_alone(crowd: Crowd, tmp_path: Path) -> None:
    joined = await crowd.joined(session="s-1")
    assert joined.token.startswith("mf_") and len(joined.token) > 40
    with sqlite3.connect(tmp_path / "home" / "mufakat.db") as database:
        rows = database.execute("SELECT digest FROM credentials").fetchall()
    assert rows == [(hashlib.sha256(joined.token.encode()).hexdigest(),)]
    everything = b"".join(one.read_bytes() for one in (tmp_path / "home").glob("mufakat.db*"))
    assert joined.token.encode() not in everything


async def test_the_same_session_is_the_same_instance_one_epoch_further(crowd: Crowd) -> None:
    first = await crowd.joined(session="s-1", role="builder")
    again = await crowd.joined(session="s-1")
    assert again.resumed and again.instance.identity == first.instance.identity
    assert again.instance.epoch == 2 and again.instance.role == "builder"
    assert again.instance.standing.run != first.instance.standing.run
    assert (await crowd.agents.authenticate(again.token)).epoch == 2


async def test_m6_the_older_bearer_is_superseded(crowd: Crowd) -> None:
    first = await crowd.joined(session="s-1")
    old = await crowd.agents.authenticate(first.token)
    await crowd.joined(session="s-1")
    with pytest.raises(Superseded):
        await crowd.agents.authenticate(first.token)
    with pytest.raises(MufakatError):
        await crowd.report(old, State.IDLE, run=first.instance.standing.run)


async def test_twin_m6_without_the_end_of_old_bearers_two_sessions_are_one_agent(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(await crowd.store.read(lambda tx: tx.credentials))
    monkeypatch.setattr(kind, "end", lambda *args, **more: 0)
    first = await crowd.joined(session="s-1")
    again = await crowd.joined(session="s-1")
    one = await crowd.agents.authenticate(first.token)
    other = await crowd.agents.authenticate(again.token)
    assert one.identity == other.identity


async def test_a_fork_is_a_new_instance_with_a_parent(crowd: Crowd) -> None:
    first = await crowd.joined(session="s-1")
    by_session = await crowd.joined(session="s-2", parent="s-1")
    by_name = await crowd.joined(session="s-3", parent=first.instance.identity)
    unknown = await crowd.joined(session="s-4", parent="never heard of")
    parents = [one.instance.parent for one in (by_session, by_name, unknown)]
    assert parents == [first.instance.identity, first.instance.identity, ""]
    assert not by_session.resumed


async def test_sessions_without_an_id_are_always_new(crowd: Crowd) -> None:
    names = {(await crowd.joined()).instance.identity for _ in range(5)}
    assert len(names) == 5


async def test_a_hundred_join_at_once_and_all_are_told_apart(crowd: Crowd) -> None:
    joined = await asyncio.gather(*(crowd.joined(session=f"s-{n}") for n in range(100)))
    assert len({one.instance.identity for one in joined}) == 100
    assert len({one.token for one in joined}) == 100


async def test_an_agent_that_has_a_credential_keeps_its_name(crowd: Crowd) -> None:
    by, instance = await crowd.join("claude")
    again = await crowd.agents.join(by, Joining("claude", session="s-9", cwd="/srv"))
    assert again.resumed and not again.token
    assert again.instance.identity == instance.identity and again.instance.epoch == 1
    assert again.instance.binding.session == "s-9"


async def test_row_15_the_name_of_a_live_agent_is_refused_and_told(crowd: Crowd) -> None:
    first = await crowd.joined(session="s-1", alias="builder")
    with pytest.raises(Conflict):
        await crowd.joined(session="s-2", alias="builder")
    conflicts = await crowd.events("identity.conflict")
    assert [event.subject for event in conflicts] == [first.instance.identity]
    assert (await crowd.agents.get("builder")).identity == first.instance.identity


async def test_the_name_of_an_agent_that_left_is_free(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1", alias="builder")
    await crowd.agents.leave(by, "me")
    second = await crowd.joined(session="s-2", alias="builder")
    assert (await crowd.agents.get("builder")).identity == second.instance.identity


@pytest.mark.parametrize(
    "alias", ["b\u0443ilder", "\uff42uilder", "buil\u200bder", "\u202ebuilder", "bui1der", "me"]
)
async def test_row_16_a_name_that_could_deceive_is_refused(crowd: Crowd, alias: str) -> None:
    await crowd.joined(session="s-1", alias="builder")
    before = len(await crowd.events())
    with pytest.raises(InvalidInput):
        await crowd.joined(session="s-2", alias=alias)
    assert len(await crowd.events()) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"engine": "human"},
        {"engine": "Mufakat"},
        {"engine": "cl\u0430ude"},
        {"engine": ""},
        {"engine": "x" * 25},
        {"engine": "codex", "host": "bo x"},
        {"engine": "codex", "session": "a\nb"},
        {"engine": "codex", "cwd": "x" * 4_097},
        {"engine": "codex", "role": "r\u200bole"},
        {"engine": "codex", "project": "relative"},
        {"engine": "codex", "threads": ["c_1"] * 33},
    ],
)
async def test_a_session_that_says_nonsense_does_not_join(
    crowd: Crowd, wrong: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput):
        await crowd.agents.join(JOINER, Joining(**wrong))  # type: ignore[arg-type]
    assert [event.subject for event in await crowd.events()] == [PERSON]


async def test_an_unknown_thread_keeps_the_session_out_whole(crowd: Crowd) -> None:
    with pytest.raises(NotFound):
        await crowd.joined(session="s-1", threads=("c_nowhere",))
    assert [event.subject for event in await crowd.events("agent.joined")] == [PERSON]


@pytest.mark.parametrize(
    "token",
    ["", "mf_", "mf_wrong", "x" * 1_000_000, "\ud800", JOIN_TOKEN + "x"],
    ids=["empty", "mark", "wrong", "long", "surrogate", "longer"],
)
async def test_an_unknown_bearer_opens_nothing(crowd: Crowd, token: str) -> None:
    await crowd.joined()
    with pytest.raises(Unauthenticated):
        await crowd.agents.authenticate(token)


async def test_the_join_token_may_join_and_is_nobody(crowd: Crowd) -> None:
    by = await crowd.agents.authenticate(JOIN_TOKEN)
    assert by == Principal(Right.JOIN)
    with pytest.raises(NotAllowed):
        await crowd.report(by, State.IDLE)


async def test_row_14_a_bearer_is_nothing_after_leaving(crowd: Crowd) -> None:
    joined = await crowd.joined(session="s-1")
    by = await crowd.agents.authenticate(joined.token)
    gone = await crowd.agents.leave(by, joined.instance.identity)
    assert gone.standing.state is State.OFFLINE and gone.standing.on is On.EXITED
    with pytest.raises(Unauthenticated):
        await crowd.agents.authenticate(joined.token)
    assert [event.kind for event in await crowd.events("agent.left")] == ["agent.left"]


async def test_twin_row_14_with_the_bearer_kept_alive_it_would_still_open(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(await crowd.store.read(lambda tx: tx.credentials))
    monkeypatch.setattr(kind, "end", lambda *args, **more: 0)
    joined = await crowd.joined(session="s-1")
    by = await crowd.agents.authenticate(joined.token)
    await crowd.agents.leave(by, "me")
    assert await crowd.agents.authenticate(joined.token)


async def test_row_18_an_agent_ends_nobody_else_and_the_attempt_is_on_record(crowd: Crowd) -> None:
    by, _ = await crowd.join(session="s-1")
    _, other = await crowd.join(session="s-2")
    with pytest.raises(NotAllowed):
        await crowd.agents.leave(by, other.identity)
    refused = await crowd.events("access.refused")
    assert [(one.subject, one.data["as"]) for one in refused] == [(by.identity, other.identity)]
    assert (await crowd.now(other.identity)).standing.state is State.STARTING


async def test_the_person_takes_part_and_does_not_leave(crowd: Crowd) -> None:
    assert (await crowd.now(PERSON)).engine == "human"
    with pytest.raises(InvalidInput):
        await crowd.agents.leave(crowd.person, PERSON)


async def test_names_lead_to_their_agents(crowd: Crowd) -> None:
    _, instance = await crowd.join("claude", alias="critic", session="s-1")
    await crowd.join("codex", session="s-2")
    for name in (instance.identity, instance.identity[:-2], "claude", "critic"):
        assert (await crowd.agents.get(name)).identity == instance.identity
    with pytest.raises(NotFound) as missing:
        await crowd.agents.get("critc")
    assert missing.value.detail["nearest"] == ["critic"]


async def test_a_prefix_of_several_is_refused_with_their_names(crowd: Crowd) -> None:
    names = sorted([(await crowd.joined()).instance.identity for _ in range(3)])
    with pytest.raises(InvalidInput) as several:
        await crowd.agents.get("codex@")
    assert all(name in str(several.value) for name in names)


async def test_a10_the_kill_switch_stops_joining_and_run_tokens(crowd: Crowd) -> None:
    assert await crowd.agents.pause(crowd.person) and await crowd.agents.paused()
    with pytest.raises(Paused):
        await crowd.joined(session="s-1")
    assert await crowd.agents.pause(crowd.person)
    assert not await crowd.agents.unpause(crowd.person)
    await crowd.joined(session="s-1")
    kinds = [event.kind for event in await crowd.events("agents.paused", "agents.unpaused")]
    assert kinds == ["agents.paused", "agents.unpaused"]


async def test_a10_the_pause_outlives_the_server(tmp_path: Path) -> None:
    async with crowd_in(tmp_path / "home", tmp_path) as crowd:
        await crowd.agents.pause(crowd.person)
    async with crowd_in(tmp_path / "home", tmp_path) as crowd:
        assert await crowd.agents.paused()


async def test_row_19_an_agent_does_not_pause_anybody(crowd: Crowd) -> None:
    by, _ = await crowd.join()
    for refused in (crowd.agents.pause, crowd.agents.unpause):
        with pytest.raises(NotAllowed):
            await refused(by)


async def test_mufakat_itself_is_not_listed(crowd: Crowd) -> None:
    await crowd.agents.pause(crowd.person)
    assert [one.identity for one in await crowd.agents.list()] == [PERSON]


async def test_a_call_is_the_sign_of_life(crowd: Crowd) -> None:
    joined = await crowd.joined(session="s-1")
    name = joined.instance.identity

    def age(tx) -> None:
        import dataclasses

        tx.instances.keep(dataclasses.replace(tx.instances.get(name), seen=1))

    await crowd.store.write(age)
    await crowd.agents.authenticate(joined.token)
    assert (await crowd.now(name)).seen > 1


async def test_credentials_of_one_run_end_alone(crowd: Crowd) -> None:
    joined = await crowd.joined(session="s-1")
    token = await crowd.store.write(lambda tx: credentials.issue(tx, joined.instance, run="t_1"))
    assert (await crowd.agents.authenticate(token)).run == "t_1"
    name = joined.instance.identity
    await crowd.store.write(lambda tx: tx.credentials.end(name, Life.REVOKED, run="t_1"))
    with pytest.raises(Unauthenticated):
        await crowd.agents.authenticate(token)
    assert await crowd.agents.authenticate(joined.token)
