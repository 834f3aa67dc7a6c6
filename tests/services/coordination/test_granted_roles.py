"""A role lifts an agent's class only where somebody with the right to do so has granted it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from mufakat.core.base import ConversationId, Unauthenticated
from mufakat.core.coordination import policy
from mufakat.core.coordination.principal import Principal
from mufakat.ports.store import Transaction
from mufakat.services.coordination import agents, credentials, lease_asking
from mufakat.services.coordination.agents import Joined, Joining
from services.conftest import INLINE, House, Puppet, answers
from services.coordination.crowd import JOINER, Crowd, crowd_in

pytestmark = pytest.mark.anyio

RULES = replace(policy.DEFAULT, roles=MappingProxyType({"fire": 3, "ci": 0}))
OF_RUNS = MappingProxyType({"fire": 3, "general": 2})
CLAIMED = policy.Ranked(1, claimed="fire")


@pytest.fixture
async def crowd(tmp_path: Path) -> AsyncIterator[Crowd]:
    async with crowd_in(tmp_path / "home", tmp_path) as opened:
        yield opened


async def join(crowd: Crowd, by: Principal, role: str = "", session: str = "s-1") -> Joined:
    joining = Joining("codex", project=str(crowd.project), session=session, role=role)
    return await crowd.agents.join(by, joining)


async def ranked(crowd: Crowd, who: str, rules: policy.Policy = RULES) -> policy.Ranked:
    by = Principal(JOINER.right, who)
    return await crowd.store.read(lambda tx: lease_asking.ranked(tx, by, rules, None))


async def test_p1_what_the_operator_says_counts_and_what_an_agent_says_does_not(
    crowd: Crowd,
) -> None:
    granted = await join(crowd, crowd.person, "fire")
    claimed = await join(crowd, JOINER, "fire", session="s-2")
    assert granted.instance.role == claimed.instance.role == "fire"
    assert await ranked(crowd, granted.instance.identity) == policy.Ranked(3)
    assert await ranked(crowd, claimed.instance.identity) == CLAIMED
    trusting = replace(RULES, trust_claimed_roles=True)
    assert await ranked(crowd, claimed.instance.identity, trusting) == policy.Ranked(3)
    found = await crowd.store.read(lambda tx: tx.instances.in_role("fire", project=None))
    assert len(found) == 2, "a claimed role routes as any other"


async def test_p1_a_claim_lowers_all_the_same(crowd: Crowd) -> None:
    claimed = await join(crowd, JOINER, "ci")
    assert await ranked(crowd, claimed.instance.identity) == policy.Ranked(0)


@pytest.mark.parametrize("role", ["", "fire"])
async def test_who_joins_again_by_the_join_token_claims_its_role_anew(
    crowd: Crowd, role: str
) -> None:
    """Whoever knows a session's id can join as it: what was granted to it is not theirs."""
    granted = await join(crowd, crowd.person, "fire")
    again = await join(crowd, JOINER, role)
    assert again.instance.identity == granted.instance.identity
    assert again.instance.role == "fire"
    assert await ranked(crowd, again.instance.identity) == CLAIMED
    renewed = await join(crowd, crowd.person, "fire")
    assert await ranked(crowd, renewed.instance.identity) == policy.Ranked(3)


async def test_the_operator_grants_the_role_that_it_names_and_no_other(crowd: Crowd) -> None:
    claimed = await join(crowd, JOINER, "fire")
    await join(crowd, crowd.person)
    assert await ranked(crowd, claimed.instance.identity) == CLAIMED


async def test_an_agent_that_tells_what_it_is_keeps_its_role_and_its_class(crowd: Crowd) -> None:
    granted = await join(crowd, crowd.person, "fire")
    by = await crowd.agents.authenticate(granted.token)
    await join(crowd, by, "ci")
    assert (await crowd.now(by.identity)).role == "fire"
    assert await ranked(crowd, by.identity) == policy.Ranked(3)


async def test_a_grant_ends_with_who_leaves(crowd: Crowd) -> None:
    granted = await join(crowd, crowd.person, "fire")
    by = await crowd.agents.authenticate(granted.token)
    await crowd.agents.leave(by, "me")
    assert await ranked(crowd, by.identity) == CLAIMED


async def test_row_5_what_is_kept_of_a_grant_opens_no_door(crowd: Crowd) -> None:
    granted = await join(crowd, crowd.person, "fire")
    kept = credentials._grant(granted.instance)  # noqa: SLF001
    assert await crowd.store.read(lambda tx: tx.credentials.get(kept)) is not None
    with pytest.raises(Unauthenticated):
        await crowd.agents.authenticate(kept)


async def of_run(house: House, identity: str) -> policy.Ranked:
    by, rules = Principal(JOINER.right, identity), replace(RULES, roles=OF_RUNS)
    return await house.app.store.read(lambda tx: lease_asking.ranked(tx, by, rules, None))


async def taken_over(house: House, role: str) -> tuple[str, ConversationId]:
    """An agent of Mufakat's own whose idle session somebody else joins by the join token."""
    house.seat(Puppet("one", answers, INLINE))
    turn = await house.ask("Go.", engine="one")
    assert await of_run(house, turn.identity) == policy.Ranked(2)

    def bind(tx: Transaction) -> None:
        mine = agents.known(tx, turn.identity)
        tx.instances.keep(replace(mine, binding=replace(mine.binding, session="s-1")))

    await house.app.store.write(bind)
    joined = await house.app.agents.join(JOINER, Joining("one", session="s-1", role=role))
    assert joined.instance.identity == turn.identity
    return turn.identity, turn.conversation


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_run_has_the_role_that_it_was_started_in(house: House, leaves: bool) -> None:
    name, conversation = await taken_over(house, "fire")
    assert await of_run(house, name) == CLAIMED
    if leaves:
        await house.app.agents.leave(house.app.agents.operator, name)
        assert await of_run(house, name) == CLAIMED
    await house.ask("Again.", engine="one", conversation=conversation)
    assert (await house.app.agents.get(name)).role == "general"
    assert await of_run(house, name) == policy.Ranked(2)


async def test_twin_a_build_that_believes_whoever_sits_there_gives_the_class_away(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "ours", lambda instance: instance.agent is not None)
    name, _ = await taken_over(house, "fire")
    assert await of_run(house, name) == policy.Ranked(3)


async def test_twin_a_build_that_never_ends_a_grant_gives_the_class_away(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "_grant", lambda one: f"role {one.role} of {one.identity}")
    kind = type(await crowd.store.read(lambda tx: tx.credentials))
    monkeypatch.setattr(kind, "end", lambda *given, **more: 0)
    await join(crowd, crowd.person, "fire")
    again = await join(crowd, JOINER)
    assert await ranked(crowd, again.instance.identity) == policy.Ranked(3)


async def test_twin_a_build_that_takes_every_role_for_granted_lets_agents_choose_their_class(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "role_granted", lambda tx, instance: True)
    claimed = await join(crowd, JOINER, "fire")
    assert await ranked(crowd, claimed.instance.identity) == policy.Ranked(3)
