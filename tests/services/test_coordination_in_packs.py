"""Mail of agents that Mufakat runs: in their packs, read when the turn began, and not before."""

from __future__ import annotations

import pytest

from mufakat.core import secrets
from mufakat.core.base import Unavailable
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.sending import Sending
from mufakat.core.talk.turn import Status
from mufakat.services.coordination import agents
from mufakat.services.coordination.mailbox import Inbox
from mufakat.services.request import Ask
from services.conftest import INLINE, SPLIT, House, Puppet, answers

pytestmark = pytest.mark.anyio


async def seat(house: House) -> tuple[Puppet, str, str]:
    """An agent that was asked once; its conversation and identity."""
    puppet = Puppet("puppet", answers, SPLIT)
    house.seat(puppet, Puppet("other", answers, INLINE))
    turn = await house.ask("Begin.", engine="puppet")
    return puppet, turn.conversation, turn.identity


async def write(house: House, to: str, body: str) -> None:
    """A message of another agent of the project."""

    def join(tx):
        sender = "codex@host:bbbbbb"
        if tx.instances.get(sender) is None:
            there = tx.instances.get(to)
            agents.register(
                tx, sender, instance="b" * 32, standing=there.standing, project=there.project
            )

    await house.app.store.write(join)
    inbox = Inbox(house.app.store, secrets.scrub)
    by = Principal(Right.AGENT, "codex@host:bbbbbb", 1)
    await inbox.send(by, Sending((to,), body=body), key=str(len(body)))


async def status(house: House, identity: str) -> list[str]:
    rows = await house.app.store.read(lambda tx: tx.inbox.page(identity))
    return [row.status.value for row in rows]


async def test_mail_is_told_in_the_next_pack_and_read_when_the_turn_began(house: House) -> None:
    puppet, conversation, identity = await seat(house)
    await write(house, identity, "the port is 8080")
    preview = await house.app.turns.preview(
        Ask("Go on.", str(house.project), conversation=conversation, engine="puppet")
    )
    assert "the port is 8080" in repr(preview)
    assert await status(house, identity) == ["queued"]
    await house.ask("Go on.", conversation=conversation, engine="puppet")
    assert "the port is 8080" in puppet.runs[-1].delivery.user
    assert await status(house, identity) == ["shown"]
    await house.ask("And on.", conversation=conversation, engine="puppet")
    assert "the port is 8080" not in puppet.runs[-1].delivery.user


async def test_nobody_elses_pack_tells_or_reads_it(house: House) -> None:
    _, conversation, identity = await seat(house)
    await write(house, identity, "for the puppet alone")
    turn = await house.ask("You there?", conversation=conversation, engine="other")
    pack = await house.app.packs.get(turn.pack)
    kinds = [kind for kind, _ in await house.app.packs.texts(pack)]
    assert "coordination" not in kinds
    assert await status(house, identity) == ["queued"]


async def test_what_a_pack_leaves_out_is_not_read(house: House) -> None:
    puppet, conversation, identity = await seat(house)
    await write(house, identity, "not now")
    await house.ask("Go.", conversation=conversation, engine="puppet", mute=("coordination",))
    assert "not now" not in puppet.runs[-1].delivery.user
    assert await status(house, identity) == ["queued"]


async def test_case_027_a_turn_that_never_began_has_read_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    puppet, conversation, identity = await seat(house)
    await write(house, identity, "important")

    def refuse(*_: object) -> None:
        raise Unavailable("the pack could not be kept")

    with monkeypatch.context() as patch:
        patch.setattr("mufakat.services.turn_record.keep_pack", refuse)
        turn = await house.ask("Go.", conversation=conversation, engine="puppet")
    assert turn.status is Status.FAILED
    assert await status(house, identity) == ["queued"]
    await house.ask("Go.", conversation=conversation, engine="puppet")
    assert "important" in puppet.runs[-1].delivery.user


async def test_a_long_letter_stays_unread_until_it_is_told_whole(house: House) -> None:
    puppet, conversation, identity = await seat(house)
    await write(house, identity, "long " * 2_000)
    await house.ask("Go.", conversation=conversation, engine="puppet")
    assert "`mufakat inbox list --all --after 0 --limit 1`" in puppet.runs[-1].delivery.user
    assert await status(house, identity) == ["queued"]


async def test_without_coordination_a_pack_has_no_such_section(house: House) -> None:
    _, conversation, _ = await seat(house)
    turn = await house.ask("Go.", conversation=conversation, engine="puppet")
    pack = await house.app.packs.get(turn.pack)
    assert "coordination" not in [kind for kind, _ in await house.app.packs.texts(pack)]
